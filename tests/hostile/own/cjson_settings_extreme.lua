-- settings of cjson with every number
local n = 0
for name, f in pairs(cjson) do if type(f) == 'function' and name:find('_') then for _, v in ipairs({0, -1, 1, 14, 15, 2 ^ 31 - 1, 2 ^ 31, 2 ^ 53, 0 / 0, 'on', 'off', 'null', 'x', true, false, {}}) do if pcall(f, v) then n = n + 1 end end end end
return n
