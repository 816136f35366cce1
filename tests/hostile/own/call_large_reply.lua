-- a reply of a hundred thousand elements, asked for again and again
for i = 1, 20 do local t = {} for j = 1, 5000 do t[j] = j end redis.call('RPUSH', 'l', unpack(t)) end
while true do local r = redis.call('LRANGE', 'l', 0, -1) end
