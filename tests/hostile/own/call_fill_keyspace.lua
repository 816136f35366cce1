-- the keyspace filled with megabytes for each call
local s, i = ('x'):rep(8000000), 0
while true do i = i + 1 redis.call('SET', 'k' .. i, s) end
