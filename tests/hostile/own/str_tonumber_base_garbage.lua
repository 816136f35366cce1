-- tonumber with every base, also those that do not exist
local n = 0
for base = -40, 80 do if pcall(tonumber, 'zz', base) then n = n + 1 end end
return {n, pcall(tonumber, '10', 0 / 0), pcall(tonumber, '10', 2 ^ 53), pcall(tonumber)}
