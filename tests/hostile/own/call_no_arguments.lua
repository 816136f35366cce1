-- redis.call of nothing and of what is no word
local r = {}
for _, a in ipairs({{}, true, 0 / 0, 1 / 0, '', '\0', -0, 1e308, function() end}) do r[#r + 1] = tostring(pcall(redis.call, a)) .. tostring(pcall(redis.pcall, a)) .. tostring(pcall(redis.call, 'GET', a)) end
return {r, pcall(redis.call), pcall(redis.pcall)}
