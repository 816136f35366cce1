-- results in ever greater number, from function to function
local function double(n, ...) if n == 0 then return ... end return double(n - 1, ..., ...) end
local function spread(n, ...) if n == 0 then return select('#', ...) end return spread(n - 1, 1, 1, 1, 1, 1, 1, 1, 1, ...) end
return {double(100, 1, 2), pcall(spread, 100000)}
