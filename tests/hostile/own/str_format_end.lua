-- string.format that ends in the middle of a directive
local r = {}
for _, f in ipairs({'%', '%-', '%1', '%.', '%99.', '%%%', 'a%', '%\0', '%5\0d'}) do r[#r + 1] = tostring(pcall(string.format, f, 1)) end
return r
