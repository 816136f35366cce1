-- BITCOUNT, BITPOS and BITOP of a string of many megabytes: calls that take long for a few bytes
redis.call('SETRANGE', 'k', 2 ^ 25 - 1, 'x')
while true do redis.call('BITCOUNT', 'k') redis.call('BITPOS', 'k', 1) redis.call('BITOP', 'NOT', 'd', 'k') end
