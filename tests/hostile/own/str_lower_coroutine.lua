-- string.lower walks megabytes inside C, inside a coroutine
local s = ('AB'):rep(8000000)
while true do coroutine.wrap(function() return s:lower() end)() end
