-- redis.set_repl with every kind of number
local r = {}
for _, v in ipairs({0, 1, 2, 3, 4, -1, 2 ^ 31, 0 / 0, 'x', {}, true}) do r[#r + 1] = tostring(pcall(redis.set_repl, v)) end
redis.call('SET', 'k', 'v')
return {r, pcall(redis.set_repl)}
