-- tables nested beyond every limit, arrays and maps in turn
redis.setresp(3)
local t = {} for i = 1, 5000 do t = i % 2 == 0 and {t} or {map = {k = t}} end
return t
