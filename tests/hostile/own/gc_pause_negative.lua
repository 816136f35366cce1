-- settings of the collector that make no sense
for _, n in ipairs({0, -1, -2 ^ 31, 2 ^ 31 - 1}) do collectgarbage('setpause', n) collectgarbage('setstepmul', n) local t = {} for i = 1, 10000 do t = {t} end end
return {collectgarbage('setpause', 1), collectgarbage('setstepmul', 1)}
