-- redis.call with far more arguments than the stack of C holds
local function grow(n, ...) if n == 0 then return redis.call('RPUSH', 'l', ...) end return grow(n - 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...) end
return pcall(grow, 3000)
