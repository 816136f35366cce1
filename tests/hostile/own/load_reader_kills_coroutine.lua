-- a reader that is a coroutine, alive and dead
local co = coroutine.wrap(function() coroutine.yield('return ') coroutine.yield('1') end)
return {load(co), pcall(load, co)}
