-- errors of commands that repeat what they were given, with line ends
local r = {}
r[1] = redis.pcall('NO\r\nSUCH', 'a\r\nb')
r[2] = redis.pcall('SET', 'k', 'v', 'X\r\nY')
r[3] = redis.pcall('OBJECT', 'HELP\r\n')
r[4] = redis.pcall('CONFIG\r\n', 'GET')
return r
