-- every way to write to the libraries
local n, failed = 0, 0
for name, t in pairs(_G) do
  if type(t) == 'table' and name ~= 'KEYS' and name ~= 'ARGV' then
    for _, way in ipairs({function() t.x = 1 end, function() rawset(t, 'x', 1) end, function() t[1] = 1 end, function() table.insert(t, 1) end, function() table.insert(t, 1, 1) end, function() setmetatable(t, {}) end, function() getmetatable(t).x = 1 end, function() for k in pairs(t) do t[k] = nil end end}) do n = n + 1 if not pcall(way) then failed = failed + 1 end end
    table.sort(t) table.remove(t) table.remove(t, 1)
  end
end
return {n > 0, rawget(string, 'x') == nil, rawget(redis, 'x') == nil, rawget(string, 1) == nil}
