-- table.sort inside its own order, each time where its own recursion is deepest
local n = 2 ^ 12
local t = {} for i = 1, n do t[i] = i end
local depth, most = 0, 0
local function nest()
  depth = depth + 1
  if depth > most then most = depth end
  local count = 0
  table.sort(t, function(a, b)
    count = count + 1
    if count == 2 * n then nest() end
    return a < b
  end)
  depth = depth - 1
end
return {tostring(pcall(nest)), most}
