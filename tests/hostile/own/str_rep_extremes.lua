-- string.rep with counts at the ends of every integer type
local r = {}
for _, n in ipairs({0, -1, 2 ^ 31, -2 ^ 31, 2 ^ 32 + 1, 2 ^ 53, 2 ^ 63, -2 ^ 63, 1e308, 0 / 0, 1 / 0}) do
  r[#r + 1] = tostring(pcall(string.rep, 'xy', n))
end
return r
