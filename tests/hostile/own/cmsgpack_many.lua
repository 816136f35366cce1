-- msgpack of more values than the stack takes, both ways
local r = {}
if rawget(_G, 'cmsgpack') then
  local t = {} for i = 1, 7900 do t[i] = i end
  r = {pcall(cmsgpack.pack, unpack(t)), #cmsgpack.pack(unpack(t, 1, 200)), pcall(cmsgpack.unpack, ('\1'):rep(100000)) and 1, pcall(cmsgpack.unpack_limit, ('\1'):rep(1000), 2 ^ 31, 0), pcall(cmsgpack.unpack_one, '\1', -5), pcall(cmsgpack.unpack_limit, '\1', -1, -1)}
end
return r
