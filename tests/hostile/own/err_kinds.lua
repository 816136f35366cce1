-- errors of every kind, caught
local r = {}
for _, e in ipairs({1, 0 / 0, true, 'text', {}, {err = 'E x'}, {err = {}}, {err = false}, {ok = 'x'}, function() end, coroutine.create(function() end)}) do
  local ok, got = pcall(error, e) r[#r + 1] = tostring(ok) .. type(got)
  r[#r + 1] = tostring(pcall(function() error(e, 2) end))
end
return r
