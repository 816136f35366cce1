-- KEYS and ARGV filled with everything there is
for i = -10, 100 do KEYS[i] = 'k' .. i ARGV['x' .. i] = {} end
for i = 2, 100 do KEYS['k' .. i] = 1 KEYS['k' .. i] = nil end
setmetatable(KEYS, {__index = function() return 'ghost' end, __mode = 'kv'})
KEYS[KEYS] = ARGV ARGV[ARGV] = KEYS
return 1
