-- find, match and gmatch that start at the ends of every integer type
local r = {}
for _, i in ipairs({0, -1, 4, 5, 2 ^ 31, -2 ^ 31, 2 ^ 63, -2 ^ 63, 1e308, 0 / 0}) do
  r[#r + 1] = tostring(pcall(string.find, 'abc', '', i)) .. tostring(pcall(string.match, 'abc', '()', i)) .. tostring(pcall(string.find, 'abc', 'c', i, true))
end
return r
