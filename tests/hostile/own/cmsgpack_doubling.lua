-- msgpack of tables that double
local t = {1} for i = 1, 14 do t = {t, t, t, t, t, t, t, t} end
return rawget(_G, 'cmsgpack') and #tostring(select(2, pcall(cmsgpack.pack, t)))
