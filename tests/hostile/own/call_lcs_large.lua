-- the longest common subsequence of long texts: time and memory are a product
redis.call('SET', 'a', ('ab'):rep(10000)) redis.call('SET', 'b', ('ba'):rep(10000))
while true do redis.pcall('LCS', 'a', 'b') end
