-- functions of redis put into each other's place
local call, pcall_, log = redis.call, redis.pcall, redis.log
return {pcall(setmetatable, {}, {__index = call}), pcall(function() return setmetatable({}, {__index = call}).x end), pcall(function() return setmetatable({}, {__index = pcall_}).x end), pcall(function() return setmetatable({}, {__tostring = log}) .. '' end), pcall(table.sort, {'SET', 'k'}, call), pcall(string.gsub, 'PING', '.+', call)}
