-- coroutines resumed with as many values as there may be while there is hardly memory
local keep = {} for i = 1, 58 do local ok, s = pcall(string.rep, string.char(i), 1000000) if not ok then break end keep[i] = s end
local t = {} for i = 1, 7900 do t[i] = i end
local n = 0
for i = 1, 200 do
  local co = coroutine.create(function(...) coroutine.yield(...) end)
  if not pcall(coroutine.resume, co, unpack(t)) then n = n + 1 end
  keep[#keep + 1] = co
end
return n
