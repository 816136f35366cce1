-- three kinds of protection around a loop, in turn
repeat local co = coroutine.wrap(function() return pcall(xpcall, function() repeat until false end, function() repeat until false end) end) pcall(co) until false
