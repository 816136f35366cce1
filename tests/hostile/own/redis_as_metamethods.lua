-- functions of C as every metamethod
local fs = {redis.call, redis.pcall, string.rep, string.gsub, table.sort, pcall, xpcall, error, next, rawset, setmetatable, loadstring, coroutine.wrap, coroutine.yield, unpack, tostring, select}
local n = 0
for _, f in ipairs(fs) do
  local mt = {__index = f, __newindex = f, __call = f, __add = f, __concat = f, __eq = f, __lt = f, __le = f, __unm = f, __tostring = f, __len = f}
  local a, b = setmetatable({}, mt), setmetatable({}, mt)
  for _, try in ipairs({function() return a.x end, function() a.x = b end, function() return a(b) end, function() return a + b end, function() return a .. b end, function() return a == b end, function() return a < b end, function() return a <= b end, function() return -a end, function() return tostring(a) end, function() return #a end}) do if pcall(pcall, try) then n = n + 1 end end
end
return n
