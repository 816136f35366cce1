-- as a library: functions with descriptions of megabytes, which are kept outside of Lua's memory (60 only: a thousand take 8 GB)
local s = 'x' for _ = 1, 23 do s = s .. s end
local i = 0
while i < 60 do i = i + 1 redis.register_function{function_name = 'f' .. i, callback = function() return 1 end, description = s} end
