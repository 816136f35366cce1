-- msgpack of what is nested without end, both ways
local r = {}
if rawget(_G, 'cmsgpack') then
  local t = {} for i = 1, 100000 do t = {t} end local c = {} c[1] = c
  r = {pcall(cmsgpack.unpack, ('\145'):rep(1000000)), #tostring(select(2, pcall(cmsgpack.pack, t))), #tostring(select(2, pcall(cmsgpack.pack, c))), pcall(cmsgpack.unpack, ('\129'):rep(100000))}
end
return r
