-- one local variable too many, and the last one allowed
local r = {}
for n = 199, 202 do r[#r + 1] = tostring(loadstring('local ' .. ('a,'):rep(n - 1) .. 'a return a') ~= nil) end
return r
