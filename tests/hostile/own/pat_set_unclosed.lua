-- sets that do not end, in every form
local r = {}
for _, p in ipairs({'[', '[^', '[]', '[^]', '[a', '[%', '[%]', '[a-', '[a-]', '[]-', '%f[', '%f[^', '%f', '%b', '%bx', '%', '(', '()', ')', '(()', '%1', '(%1', '%0', '[\0', '%\0'}) do
  r[#r + 1] = p .. tostring(pcall(string.find, 'a]b', p))
end
return r
