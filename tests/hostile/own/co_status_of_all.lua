-- the status of what is no coroutine
return {pcall(coroutine.status, 1), pcall(coroutine.status), pcall(coroutine.resume, {}), pcall(coroutine.wrap, (1 == 1)), pcall(coroutine.create, string.rep), pcall(coroutine.wrap(function() return coroutine.running() end))}
