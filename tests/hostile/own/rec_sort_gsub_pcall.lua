-- sort, gsub, pcall and coroutines, each inside the other
local f
f = function(n)
  if n > 1000 then return n end
  table.sort({2, 1}, function(a, b) pcall(f, n + 1) return a < b end)
  ;('x'):gsub('x', function() coroutine.wrap(f)(n + 1) end)
  return n
end
return pcall(f, 1)
