-- redis.call inside sort, gsub, foreach and load, with errors
local f = function(a, b) redis.pcall('LPUSH', 'l', '1') redis.pcall('INCR', 'l') pcall(redis.call, 'NOPE') return tostring(a) < tostring(b) end
local t = {3, 1, 2} table.sort(t, f)
local _ = ('abc'):gsub('.', function(c) redis.call('SET', c, c) return redis.pcall('GET', c) end)
table.foreach(t, function() redis.pcall('DEL', 'l') end)
load(function() redis.call('SET', 'z', 1) return nil end)
return redis.call('DBSIZE')
