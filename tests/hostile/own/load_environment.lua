-- what loaded code sees and what it can set
return {pcall(loadstring('x = 1')), pcall(loadstring('return nope')), pcall(loadstring('return _G.string.rep == string.rep')), pcall(loadstring('string.rep = nil')), pcall(loadstring('local a = ... a.x = 1'), _G)}
