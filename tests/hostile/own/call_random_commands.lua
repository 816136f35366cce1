-- every command with arguments by chance
math.randomseed(7)
local names = redis.call('COMMAND', 'LIST')
local pool = {'0', '1', '-1', '9223372036854775807', '-9223372036854775808', '4294967296', '1e308', '-inf', 'nan', '(1', '[a', '-', '+', '$', '>', '*', '', 'k', 'l', 's',
  'z', 'h', 'x', 'WITHSCORES', 'LIMIT', 'COUNT', 'MATCH', 'MAXLEN', '~', 'BYLEX', 'REV', 'NX', 'GET', 'SET', 'OVERFLOW', 'u63', '#1', 'LEFT', 'RANK', 'STREAMS', 'GROUP', 'g',
  '0-0', '18446744073709551615-18446744073709551615', 'CREATE', 'FULL', 'WEIGHTS', 'PX', 'AND', 'REPLACE', '\0', '\r\n'}
local start = {{'RPUSH', 'l', '1', 'a'}, {'SADD', 's', '1', 'a'}, {'ZADD', 'z', '1', 'a'}, {'HSET', 'h', 'a', '1'}, {'SET', 'k', '12345'}, {'XADD', 'x', '*', 'a', 'b'}, {'XGROUP', 'CREATE', 'x', 'g', '0'}}
for i = 1, 3000 do
  if i % 20 == 1 then for _, words in ipairs(start) do redis.pcall(unpack(words)) end end
  local words = {names[math.random(#names)]}
  if words[1] ~= 'debug' then
    for j = 1, math.random(7) do words[j + 1] = pool[math.random(#pool)] end
    if math.random(3) == 1 then redis.setresp(math.random(2, 3)) end
    redis.pcall(unpack(words))
  end
end
return redis.call('FLUSHALL')
