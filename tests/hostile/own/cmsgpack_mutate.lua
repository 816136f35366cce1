-- msgpack changed at every byte
local n = 0
if rawget(_G, 'cmsgpack') then
  local s = cmsgpack.pack({1, 2.5, 'x', {a = {1, 2, 3}, b = true}, -1, 2 ^ 40})
  for i = 1, #s do for c = 0, 255 do if pcall(cmsgpack.unpack, s:sub(1, i - 1) .. string.char(c) .. s:sub(i + 1)) then n = n + 1 end end end
end
return n
