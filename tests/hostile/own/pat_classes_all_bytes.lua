-- every byte against every class, and every byte as a class
local n = 0
for c = 0, 255 do
  local s = string.char(c)
  for k = 1, 255 do if pcall(string.find, s, '%' .. string.char(k)) then n = n + 1 end end
end
return n
