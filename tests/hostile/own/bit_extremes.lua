-- every function of bit with every number
local n = 0
for _, f in pairs(bit) do if type(f) == 'function' then for _, a in ipairs({0, -1, 1, 31, 32, 33, 2 ^ 31, -2 ^ 31, 2 ^ 32, 2 ^ 53, 1e308, 0 / 0, 1 / 0, 'x', '7', {}}) do for _, b in ipairs({0, -1, 31, 32, 64, 2 ^ 31, -2 ^ 31, 0 / 0, -1 / 0}) do if pcall(f, a, b) then n = n + 1 end end end end end
return n
