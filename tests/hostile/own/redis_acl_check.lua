-- redis.acl_check_cmd with every kind of argument
local r = {}
for _, v in ipairs({'GET', 'NO', 'CONFIG', '', '\0', 1, {}, true}) do r[#r + 1] = tostring(pcall(redis.acl_check_cmd, v)) .. tostring(pcall(redis.acl_check_cmd, v, v, v)) end
return {r, pcall(redis.acl_check_cmd)}
