-- one iterator of gmatch used by two coroutines
local it = ('a b c d e f'):gmatch('%a')
local function take() local r = {} for _ = 1, 3 do r[#r + 1] = it() coroutine.yield() end return r end
local a, b = coroutine.create(take), coroutine.create(take)
for _ = 1, 6 do coroutine.resume(a) coroutine.resume(b) end
return it()
