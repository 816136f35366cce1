-- the server's own handler of errors, called by hand
local r = {}
if rawget(_G, '__redis__err__handler') then
  for _, e in ipairs({1, 'x', {}, {err = 'E'}, true}) do r[#r + 1] = type(__redis__err__handler(e)) end
  r[#r + 1] = tostring(pcall(__redis__err__handler))
  r[#r + 1] = tostring(xpcall(function() error('x') end, __redis__err__handler))
end
return r
