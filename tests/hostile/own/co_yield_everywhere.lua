-- a yield across every function of C that calls back
local y = coroutine.yield
local tries = {
  function() return pcall(y, 1) end, function() return xpcall(y, y) end,
  function() table.sort({2, 1}, y) end, function() return ('x'):gsub('x', y) end,
  function() table.foreach({1}, y) end, function() table.foreachi({1}, y) end,
  function() return load(y) end, function() return tostring(setmetatable({}, {__tostring = y})) end,
  function() return setmetatable({}, {__index = y}).x end, function() setmetatable({}, {__newindex = y}).x = 1 end,
  function() return setmetatable({}, {__add = y}) + 1 end, function() return setmetatable({}, {__concat = y}) .. 'x' end,
  function() return setmetatable({}, {__lt = y}) < setmetatable({}, {__lt = y}) end,
  function() return setmetatable({}, {__call = y})() end, function() for x in y do return x end end,
}
local r = {}
for i, f in ipairs(tries) do
  local co = coroutine.create(f)
  local got = tostring(coroutine.resume(co))
  for _ = 1, 3 do got = got .. tostring(coroutine.resume(co, 7)) end
  r[i] = got
end
return r
