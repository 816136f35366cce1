-- random members with a count of millions, again and again
redis.call('SADD', 's', 'member')
while true do redis.pcall('SRANDMEMBER', 's', '-3000000') redis.pcall('HRANDFIELD', 's', '-3000000') redis.pcall('SRANDMEMBER', 's', '-900000000') end
