-- what stands between scripts and libraries, looked at from all sides
local r = {}
for _, t in ipairs({string, redis, _G, getmetatable(''), getmetatable(_G)}) do
  r[#r + 1] = type(getmetatable(t)) .. #t .. tostring(next(t) ~= nil) .. tostring(pcall(ipairs, t)) .. tostring(pcall(table.concat, t)) .. tostring(pcall(unpack, t)) .. tostring(rawequal(t, t)) .. tostring(pcall(table.maxn, t)) .. tostring(pcall(table.foreach, t, function() end)) .. tostring(pcall(rawget, t, 'x'))
end
return r
