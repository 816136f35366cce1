-- a dead, a running and a finished coroutine resumed in every way
local r = {}
local dead = coroutine.create(function() error('x') end) coroutine.resume(dead)
local done = coroutine.create(function() end) coroutine.resume(done)
local self self = coroutine.create(function() return coroutine.resume(self) end)
local outer outer = coroutine.create(function() return coroutine.resume(coroutine.create(function() return coroutine.resume(outer) end)) end)
for _, co in ipairs({dead, done, self, outer}) do for _ = 1, 3 do r[#r + 1] = tostring(select(2, coroutine.resume(co))) .. coroutine.status(co) end end
return r
