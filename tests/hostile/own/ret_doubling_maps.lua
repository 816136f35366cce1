-- forty maps and sets of RESP3, each twice in the next
redis.setresp(3)
local t = 1 for i = 1, 40 do t = {map = {a = {set = {x = true}}, b = t, c = t}} end
return t
