-- the handler of errors writes to an error that has __newindex
error(setmetatable({err = 'X y'}, {__newindex = function(t, k, v) rawset(t, k, 'hooked') while true do end end}))
