-- words of later versions of the language
local r = {}
for _, c in ipairs({'goto x', '::x::', 'local a <const> = 1', 'return 1 // 2', 'return 1 & 2', 'return 1 << 2', 'return ~1', 'local x <close> = nil', 'return "\\x41"', 'return "\\u{41}"', 'return "\\z  a"', 'return 0x1p4'}) do r[#r + 1] = tostring(loadstring(c) ~= nil) end
return r
