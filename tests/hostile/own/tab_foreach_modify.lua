-- a table that grows and shrinks under table.foreach
local t = {} for i = 1, 100 do t[i] = i end
local n = 0
return pcall(table.foreach, t, function(k) n = n + 1 t[k] = nil t['x' .. n] = n if n > 100000 then return n end end)
