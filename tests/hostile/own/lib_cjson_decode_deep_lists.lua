-- More levels than the native stack has frames for, closed again, with no bound set.
local c = cjson.new() c.decode_max_depth(2147483647) return c.decode(string.rep('[', 1000000) .. string.rep(']', 1000000))
