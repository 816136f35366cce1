-- the same, caught: pcall asks for err
return pcall(error, setmetatable({}, {__index = function(t, k) return k .. ' made' end}))
