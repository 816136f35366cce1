-- an error from as deep as it goes, caught at each level and raised again
local function f(n) if n == 0 then error('deep') end local ok, e = pcall(f, n - 1) error(e) end
return pcall(f, 190)
