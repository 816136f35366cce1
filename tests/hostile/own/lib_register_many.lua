-- as a library: each function is compared with all that are registered
local f = function() return 1 end
local i = 0
while i < 100000 do i = i + 1 redis.register_function('f' .. i, f) end
