-- redis.log with every kind of argument
local r = {}
for _, l in ipairs({-1, 0, 3, 4, 2 ^ 31, 0 / 0, '1', 'x', {}, true}) do for _, m in ipairs({'', 'x', 1, {}, true}) do r[#r + 1] = tostring(pcall(redis.log, l, m)) end end
return {r, pcall(redis.log), pcall(redis.log, 1), pcall(redis.log, 1, unpack({'a'}, 1, 7000))}
