-- keys that are no keys
local t, r = {}, {}
r[1] = tostring(pcall(function() t[nil] = 1 end))
r[2] = tostring(pcall(function() t[0 / 0] = 1 end))
r[3] = tostring(pcall(rawset, t, 0 / 0, 1))
r[4] = tostring(pcall(rawset, t, nil, 1))
r[5] = tostring(t[0 / 0]) .. tostring(t[nil]) .. tostring(rawget(t, 0 / 0))
r[6] = tostring(pcall(next, t, 0 / 0)) .. tostring(pcall(next, t, {})) .. tostring(pcall(next, t, 'no'))
t[1 / 0] = 1 t[-1 / 0] = 2 t[2 ^ 53] = 3 t[-0] = 4 t[0] = 5
r[7] = t[1 / 0] + t[-1 / 0] + t[2 ^ 53] + t[0]
return r
