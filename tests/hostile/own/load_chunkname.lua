-- chunk names of every kind
local r = {}
for _, n in ipairs({'', '=', '@', '=x\0y', ('='):rep(100), '@' .. ('n'):rep(1000), 'a\nb', '\r\n', '\27', '%s%n', 1}) do r[#r + 1] = select(2, loadstring('x x', n)) end
return r
