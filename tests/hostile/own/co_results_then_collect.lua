-- a resume that fails for its results, then the collector and a burst of memory
for _ = 1, 50 do
  local t = {} for i = 1, 7990 do t[i] = i end
  pcall(function() local function f(...) return coroutine.resume(coroutine.create(function() return unpack(t) end)) end return f(unpack(t, 1, 4000)) end)
  t = nil collectgarbage()
  local s = {} for i = 1, 100 do s[i] = ('x'):rep(60000) .. i end
end
return 1
