-- more values out of a coroutine than the stack of the other takes
local t = {} for i = 1, 7990 do t[i] = i end
local function all(...) return 1, 2, 3, unpack(t) end
local co = coroutine.create(function() return all() end)
local function narrow(...) local a = {coroutine.resume(co)} return #a end
return {pcall(narrow), pcall(function() return select('#', 1, 2, 3, coroutine.resume(coroutine.create(all))) end), pcall(function() return coroutine.resume(coroutine.create(function(...) return ... end), unpack(t)) end) and 1}
