-- a chain of __index of a hundred tables, and one too long
local r = {}
for _, n in ipairs({98, 99, 100, 101, 5000}) do
  local t = {} for _ = 1, n do t = setmetatable({}, {__index = t}) end
  r[#r + 1] = tostring(pcall(function() return t.x end))
end
return r
