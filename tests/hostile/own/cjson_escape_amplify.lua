-- cjson.encode of control bytes: six for each
local s = ('\1'):rep(9000000)
while true do pcall(cjson.encode, s) end
