-- arguments with metamethods that must not run
local t = setmetatable({}, {__tostring = function() error('ran') end, __index = error})
return {pcall(redis.call, t), pcall(redis.call, 'GET', t), pcall(redis.sha1hex, t), pcall(redis.status_reply, t), pcall(redis.error_reply, t), pcall(redis.log, 1, t)}
