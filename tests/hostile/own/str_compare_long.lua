-- one instruction compares two long strings that differ at the end
local a, b = ('x'):rep(15000000) .. 'a', ('x'):rep(15000000) .. 'b'
while true do local less = a <= b end
