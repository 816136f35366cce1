-- The same below the bound on nesting, where tables are nil.
local t = {} for i = 1, 40 do t = {t, t, t, t} end return #cmsgpack.pack(t)
