-- gsub that makes a long text longer, again and again
local s = 'x'
while true do s = s:gsub('.', '%0%0%0%0') end
