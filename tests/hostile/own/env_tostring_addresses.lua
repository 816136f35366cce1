-- what addresses tell
local seen, n = {}, 0
for i = 1, 1000 do local a = tostring({}) if seen[a] then n = n + 1 end seen[a] = true end
return {type(tostring((1 == 1))), (tostring(string.rep):gsub('0x%x+', 'X')), (tostring(coroutine.create(function() end)):gsub('0x%x+', 'X'))}
