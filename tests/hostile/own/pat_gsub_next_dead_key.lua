-- gsub asks next as a metamethod, with a key that is dead, in a table that is large and empty
local t = {x = 1} for i = 1, 2 ^ 15 - 2 do t['k' .. i] = 1 end
for k in pairs(t) do t[k] = nil end
setmetatable(t, {__index = next})
return {(('x'):rep(40000):gsub('x', t)):len()}
