-- an error table whose err is made by a metamethod without end
error(setmetatable({}, {__index = function() while true do end end}))
