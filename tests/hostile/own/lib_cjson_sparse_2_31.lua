-- One element at the last index that counts: two thousand million nulls.
local c = cjson.new() c.encode_sparse_array(false, 0) return #c.encode({[2147483647] = 1})
