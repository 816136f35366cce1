-- string.char of what is no byte
local n = 0
for _, v in ipairs({-1, 256, 0 / 0, 1 / 0, -1 / 0, 2 ^ 31, 2 ^ 53, 1e308, '65', '0x41', {}, true}) do
  if pcall(string.char, v) then n = n + 1 end
end
return n
