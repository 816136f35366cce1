-- table.sort in its own order, as deep as it goes
local function cmp(a, b) table.sort({3, 2, 1}, cmp) return a < b end
return pcall(table.sort, {3, 1, 2}, cmp)
