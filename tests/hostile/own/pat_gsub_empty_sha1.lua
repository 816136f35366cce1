-- gsub with an empty match at each place, which costs nothing, and a callback in C that costs nothing either
local s = ('x'):rep(1000000)
while true do pcall(string.gsub, s, '', redis.sha1hex) end
