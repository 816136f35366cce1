-- Settings changed in coroutines that are never resumed.
while true do coroutine.wrap(function() local c = cjson.new() c.encode_max_depth(1) coroutine.yield(c) end)() end
