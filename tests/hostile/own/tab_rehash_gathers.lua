-- numbers as keys that are well spread in a table and share one bucket in one twice as large: one rehash compares each with all
local K = 16
local n, modulus = 2 ^ K, 2 ^ (K + 1) - 1
local sums = math.floor(2 ^ 32 / 2 ^ (K + 1)) - 1
local pack, unpack = struct.pack, struct.unpack
local t = {}
for i = 0, n do
  local hi = 0x40000000 + math.floor(i / sums)
  local lo = ((i % sums) * modulus - hi) % 2 ^ 32
  t[unpack('<d', pack('<I4I4', lo, hi))] = true
end
return 1
