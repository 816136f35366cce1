-- struct without end, with a long format
local f = ('i4'):rep(3000) local s = ('abcd'):rep(3000)
while true do pcall(struct.unpack, f, s) pcall(struct.size, f) end
