-- A table in itself, with no bound on the nesting but Lua's stack.
local c = cjson.new() c.encode_max_depth(2147483647) local t = {} t[1] = t t.x = t return c.encode(t)
