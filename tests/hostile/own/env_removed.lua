-- what must not be there
local r = {}
for _, name in ipairs({'dofile', 'loadfile', 'require', 'module', 'package', 'io', 'os', 'debug', 'newproxy', 'getfenv', 'setfenv', 'print', 'jit', 'ffi', 'collect', 'arg', 'registry', 'globals', 'quick globals'}) do r[#r + 1] = type(rawget(_G, name)) end
return r
