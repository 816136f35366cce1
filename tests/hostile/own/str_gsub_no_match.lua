-- gsub that looks at megabytes and finds nothing
local s = ('a'):rep(16000000)
while true do s:gsub('b', '') end
