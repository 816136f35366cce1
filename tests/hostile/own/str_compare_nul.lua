-- one instruction compares two long strings piece by piece: each NUL is a piece
local a, b = ('\0'):rep(8000000) .. 'a', ('\0'):rep(8000000) .. 'b'
local n = 0
while true do if a < b then n = n + 1 end end
