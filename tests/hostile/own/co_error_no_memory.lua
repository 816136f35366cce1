-- the error of a coroutine that has run out of memory, and of one that is resumed after
local keep = {}
local co = coroutine.create(function() for i = 1, 80 do keep[#keep + 1] = ('x'):rep(1000000) .. i end end)
local r = {coroutine.resume(co)}
keep = nil collectgarbage()
local wrapped = coroutine.wrap(function() local k = {} while true do k[#k + 1] = ('y'):rep(100000) .. #k end end)
return {tostring(r[1]), tostring(r[2]), coroutine.status(co), tostring(select(2, pcall(wrapped)))}
