-- from as deep in gsub as it goes: patterns of commands, deep JSON, long formats
local deep, r, got = 0
redis.call('SET', ('a'):rep(20000), 1)
function r()
  deep = deep + 1
  if deep == 195 then
    got = {pcall(redis.call, 'KEYS', ('*a'):rep(900)), pcall(string.format, '%99.99f', 1e308), pcall(cjson.decode, ('['):rep(900) .. (']'):rep(900)),
      pcall(string.find, ('a'):rep(300), ('a?'):rep(190) .. 'b'), pcall(redis.call, 'LCS', ('a'):rep(20000), 'none')}
  end
  return (('x'):gsub('(x)', r))
end
pcall(r)
return {deep, tostring(got and got[1])}
