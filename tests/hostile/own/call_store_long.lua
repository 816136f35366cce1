-- the union of large sets, stored: one call is longer than the time left
local a = {} for i = 1, 5000 do a[i] = 'm' .. i end redis.call('SADD', 's', unpack(a))
for j = 1, 7 do local b = {} for i = 1, 5000 do b[i] = j .. 'n' .. i end redis.call('SADD', 's', unpack(b)) end
while true do redis.call('SUNIONSTORE', 'd', 's', 's', 's', 's', 's', 's', 's', 's', 's', 's', 's', 's', 's', 's', 's', 's') end
