-- each byte as a program, before a program and in a string
local n = 0
for c = 0, 255 do local s = string.char(c) for _, p in ipairs({s, s .. 'return 1', 'return "' .. s .. '"', 'return 1 ' .. s, '\27' .. s}) do if loadstring(p) then n = n + 1 end end end
return n
