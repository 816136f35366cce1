-- redis.sha1hex of megabytes without end
local s = ('x'):rep(16000000)
while true do redis.sha1hex(s) end
