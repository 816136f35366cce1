-- errors that are coroutines, functions, libraries and KEYS, through wrap and resume
local r = {}
for _, e in ipairs({coroutine.create(function() end), type, redis, KEYS, cjson.null, true}) do
  r[#r + 1] = tostring(pcall(coroutine.wrap(function() error(e) end)))
  r[#r + 1] = tostring(coroutine.resume(coroutine.create(function() error(e, 2) end)))
end
error(KEYS)
