-- every operator defined by itself
local r, mt = {}, {}
local ops = {add = '+', sub = '-', mul = '*', div = '/', mod = '%', pow = '^', concat = '..'}
for name, op in pairs(ops) do mt['__' .. name] = loadstring('local a, b = ... return a ' .. op .. ' b') end
mt.__unm = function(a) return -a end mt.__len = function(a) return #a end
local t = setmetatable({}, mt)
for _, op in pairs(ops) do r[#r + 1] = tostring(pcall(loadstring('local t = ... return t ' .. op .. ' 1'), t)) end
r[#r + 1] = tostring(pcall(function() return -t end))
return #r
