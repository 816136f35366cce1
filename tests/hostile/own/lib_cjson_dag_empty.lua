-- The same without text to speak of: nothing but levels.
local c = cjson.new() c.encode_sparse_array(true) local t = {} for i = 1, 900 do t = {a = t, b = t} end return c.encode(t)
