-- every function there is, called with everything
local values = {nil, true, 0, -1, 2 ^ 31, 0 / 0, 'x', '', '\0', {}, function() end, coroutine.create(function() end), setmetatable({}, {__index = function() return 1 end})}
local skip, n = {yield = true}, 0
for lib, t in pairs(_G) do
  if type(t) == 'table' and lib ~= '_G' then for name, f in pairs(t) do if type(f) == 'function' and not skip[name] then for i = 1, 13 do for j = 1, 13, 3 do if pcall(f, values[i], values[j], values[(i + j) % 13 + 1]) then n = n + 1 end end end end end
  elseif type(t) == 'function' then for i = 1, 13 do for j = 1, 13, 3 do if pcall(t, values[i], values[j]) then n = n + 1 end end end end
end
return n > 0
