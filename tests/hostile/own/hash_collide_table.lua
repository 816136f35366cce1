-- strings that share a hash as keys of a table that is read
local t, keys = {}, {}
for i = 0, 255 do for j = 0, 40 do local k = ('a'):rep(64) .. string.char(i) .. 'a' .. string.char(j) .. ('a'):rep(61) t[k] = 1 keys[#keys + 1] = k end end
local n = 0
while true do for i = 1, #keys do n = n + t[keys[i]] end end
