-- coroutines with stacks that grow and are kept
local kept = {}
while true do
  local co = coroutine.create(function() local function f(n) if n == 0 then coroutine.yield() return 0 end return 1 + f(n - 1) end f(5000) end)
  coroutine.resume(co) kept[#kept + 1] = co
end
