-- a table that holds itself is returned
local t = {} t[1] = t return t
