-- a loop that does nothing but call a command
while true do redis.call('GET', 'k') end
