-- string.upper walks megabytes inside C
local s = ('a'):rep(16000000)
while true do local u = s:upper() end
