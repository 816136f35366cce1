-- coroutines that end before any count of their instructions does
while true do local co = coroutine.wrap(function() for i = 1, 100 do end coroutine.yield() for i = 1, 100 do end end) co() co() end
