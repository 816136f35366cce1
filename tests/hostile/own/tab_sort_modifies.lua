-- an order that changes the table while it is sorted
local t = {} for i = 1, 500 do t[i] = 500 - i end
local n = 0
return {pcall(table.sort, t, function(a, b) n = n + 1 t[n] = nil t[#t + 1] = n return (a or 0) < (b or 0) end), #t}
