-- redis.call inside coroutines inside pcall inside sort
local function f() return redis.call('INCR', 'n') end
table.sort({3, 2, 1}, function(a, b) coroutine.wrap(function() pcall(f) end)() return a < b end)
return tonumber(redis.call('GET', 'n')) > 0
