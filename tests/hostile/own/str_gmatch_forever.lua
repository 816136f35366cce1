-- gmatch with an empty pattern over megabytes
local n = 0
for _ in (('a'):rep(16000000)):gmatch('') do n = n + 1 end
return n
