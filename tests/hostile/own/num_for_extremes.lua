-- loops whose counters do not move or do not end
local n = 0
for i = 2 ^ 53, 2 ^ 53 + 10 do n = n + 1 if n > 100 then break end end
for i = 1, 1 / 0, 1e308 do n = n + 1 if n > 200 then break end end
for i = 0 / 0, 1 do n = n + 1 end
for i = 1, 0 / 0 do n = n + 1 end
for i = 1, 10, 0 do n = n + 1 if n > 300 then break end end
return n
