-- a yield out of a callback of gsub, across a call of C
return coroutine.resume(coroutine.create(function() return ('x'):gsub('x', function() return coroutine.yield() end) end))
