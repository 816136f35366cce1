-- table.concat of what is no text, at the ends of its range
local r = {}
for _, v in ipairs({true, {}, (1 == 1), 0 / 0, 1e308, coroutine.create(function() end)}) do r[#r + 1] = tostring(pcall(table.concat, {v, 'x'}, ',')) end
r[#r + 1] = tostring(pcall(table.concat, {}, '', 2 ^ 31 - 1, 2 ^ 31 - 1))
r[#r + 1] = tostring(pcall(table.concat, {}, '', -2 ^ 31, -2 ^ 31))
r[#r + 1] = tostring(pcall(table.concat, {}, '', 5, -5))
return r
