-- every function of math on everything
local n = 0
for name, f in pairs(math) do
  if type(f) == 'function' then
    for _, a in ipairs({0, -1, 1e308, 0 / 0, 1 / 0, 'x', '1', {}, true}) do if pcall(f, a, a) then n = n + 1 end end
    pcall(f)
  end
end
return n
