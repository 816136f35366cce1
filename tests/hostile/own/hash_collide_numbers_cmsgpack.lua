-- numbers that share a bucket, as keys in msgpack
local pack = struct.pack
local o = {}
for i = 0, 65534 do local hi = 0x3ff00000 + i o[i + 1] = pack('>BI4I4B', 203, hi, (0x7fffffff - hi) % 2 ^ 32, 1) end
local text = '\222\255\255' .. table.concat(o)
o = nil
return type(cmsgpack.unpack(text))
