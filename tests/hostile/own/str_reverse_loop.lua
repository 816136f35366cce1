-- string.reverse walks megabytes inside C, inside pcall
local s = ('ab'):rep(8000000)
while true do pcall(string.reverse, s) end
