-- copies of cjson in great number, with settings of their own
local kept = {}
for i = 1, 1e9 do local c = cjson.new() pcall(c.decode_max_depth, i % 100 + 1) kept[#kept + 1] = c end
