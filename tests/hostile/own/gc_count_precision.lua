-- collectgarbage('count') and gcinfo, called for what they may give away
local seen = {}
for i = 1, 100 do seen[#seen + 1] = type(collectgarbage('count')) .. type(gcinfo()) end
return #seen
