-- The same through keys, right at what Lua's stack takes.
local c = cjson.new() c.decode_max_depth(2147483647) c.encode_max_depth(2147483647) for n = 3990, 4005 do pcall(function() return c.encode(c.decode(string.rep('{"a":', n) .. '1' .. string.rep('}', n))) end) end return 1
