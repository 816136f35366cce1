-- the collector stopped, then garbage without end
collectgarbage('stop') collectgarbage('setpause', 2 ^ 31 - 1) collectgarbage('setstepmul', 1)
while true do local t = {{}, {}, {}} end
