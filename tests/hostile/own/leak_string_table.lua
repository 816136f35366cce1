-- when the table of all strings grows: it depends on how many others made
local last, jumps = collectgarbage('count'), {}
for i = 1, 3000 do local s = 'mine' .. i local now = collectgarbage('count') if now - last > 4 then jumps[#jumps + 1] = i end last = now end
return jumps
