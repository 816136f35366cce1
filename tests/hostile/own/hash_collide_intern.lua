-- strings that share a hash, made and dropped again and again
local a, b = ('a'):rep(60), ('b'):rep(60)
local i = 0
while true do i = (i + 1) % 200 local s = a .. string.char(i) .. 'x' .. b end
