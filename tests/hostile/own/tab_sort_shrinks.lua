-- an order that empties the table that is sorted, and collects
local t = {} for i = 1, 2000 do t[i] = {i} end
return {tostring(pcall(table.sort, t, function(a, b)
  for _ = 1, 50 do t[#t] = nil end
  collectgarbage('step')
  if not a or not b then return false end
  return a[1] > b[1]
end))}
