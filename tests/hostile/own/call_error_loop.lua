-- errors of commands without end
while true do redis.pcall('NOSUCH') pcall(redis.call, 'GET') end
