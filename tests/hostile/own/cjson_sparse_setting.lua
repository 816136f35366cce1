-- cjson.encode with holes allowed: one key makes a billion nulls
cjson.encode_sparse_array(false, 0, 2 ^ 31 - 1)
return #tostring(select(2, pcall(cjson.encode, {[1] = 1, [2 ^ 31 - 2] = 2})))
