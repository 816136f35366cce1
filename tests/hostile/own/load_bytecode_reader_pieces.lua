-- bytecode through a reader, its first byte alone
local d = string.dump(function() return 42 end)
local r = {}
for cut = 0, 5 do local parts = {d:sub(1, cut), d:sub(cut + 1)} local i = 0 r[#r + 1] = tostring((load(function() i = i + 1 return parts[i] end))) end
return r
