-- string.dump of a function that is megabytes of code
local body = {} for i = 1, 20000 do body[i] = 'a=a+' .. i end
local f = loadstring(table.concat(body, ' '))
while true do local s = f and string.dump(f) end
