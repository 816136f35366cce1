-- pcall asks an error table for err, and a metamethod answers
return pcall(error, setmetatable({}, {__index = function(t, k) return k .. ' made' end}))
