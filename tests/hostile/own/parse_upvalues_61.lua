-- one upvalue too many, and the last one allowed
local r = {}
for n = 59, 62 do
  local names = {} for i = 1, n do names[i] = 'v' .. i end
  local list = table.concat(names, ',')
  r[#r + 1] = tostring(loadstring('local ' .. list .. ' return function() return ' .. list .. ' end') ~= nil)
end
return r
