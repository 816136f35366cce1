-- what is returned has metamethods that must not run
return {setmetatable({}, {__index = function() error('ran') end}), setmetatable({1}, {__len = function() while true do end end}), setmetatable({}, {__index = function() return 1 end})}
