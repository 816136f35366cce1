-- the order that makes quicksort quadratic, then compared inside C
local n, t, val, solid, cand = 30000, {}, {}, 0, 0
local gas = n + 1
for i = 1, n do t[i] = i val[i] = gas end
local function cmp(x, y)
  if val[x] == gas and val[y] == gas then
    if x == cand then val[x] = solid solid = solid + 1 else val[y] = solid solid = solid + 1 end
  end
  if val[x] == gas then cand = x elseif val[y] == gas then cand = y end
  return val[x] < val[y]
end
pcall(table.sort, t, cmp)
while true do local out = {} for i = 1, n do out[i] = val[i] end table.sort(out) end
