-- sizes of struct that no integer holds
local r = {}
for _, f in ipairs({'i2147483648', 'c99999999999', 'i4294967297', 'c4294967296', 'c2147483647', 'i33', 'i0', 'I8', '!3', '!0', '!99999999999', 'c0', 's', 'x', '<', '>=', 'l9', 'b9', 'z', '\0', ('x'):rep(100000)}) do
  r[#r + 1] = tostring(pcall(struct.pack, f, 1)) .. tostring(pcall(struct.unpack, f, 'abcdefgh')) .. tostring(pcall(struct.size, f))
end
return r
