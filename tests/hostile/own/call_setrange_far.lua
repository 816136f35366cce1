-- strings of half a gigabyte, made by a few bytes
for i = 1, 1000 do redis.pcall('SETRANGE', 'k' .. i, 500000000, 'x') redis.pcall('SETBIT', 'b' .. i, 4000000000, 1) end
return 1
