-- a name of a million letters, in the code and in the message
local name = ('n'):rep(1000000)
return {pcall(loadstring('return ' .. name)), #tostring(select(2, loadstring(name .. ' ' .. name)))}
