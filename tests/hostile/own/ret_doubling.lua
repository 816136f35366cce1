-- forty tables, each twice in the next: a trillion elements
local t = {'x'} for i = 1, 40 do t = {t, t} end
return t
