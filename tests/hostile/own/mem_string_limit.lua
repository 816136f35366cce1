-- a string that doubles until it is refused, caught each time
local n, s = 0, 'x'
while n < 1000 do local ok, r = pcall(function() return s .. s end) if ok then s = r else n = n + 1 end end
return {n, #s}
