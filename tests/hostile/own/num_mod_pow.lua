-- arithmetic at the ends of what numbers are
local r = {}
for _, a in ipairs({0, -0, 1, -1, 2 ^ 53, 1e308, 5e-324, 1 / 0, -1 / 0, 0 / 0}) do
  for _, b in ipairs({0, -0, 1, -1, 2 ^ 53, 1e308, 5e-324, 1 / 0, -1 / 0, 0 / 0}) do
    r[#r + 1] = tostring(a % b) .. tostring(a ^ b) .. tostring(a / b) .. tostring(math.fmod(a, b))
  end
end
return #r
