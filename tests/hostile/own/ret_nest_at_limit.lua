-- tables nested as deep as they may be, then one deeper
local function nest(n) local t = 1 for _ = 1, n do t = {t} end return t end
return {nest(255), nest(256), nest(257), nest(8000)}
