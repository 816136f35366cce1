-- functions in great number in one function
local f, e = loadstring(('local function f() end '):rep(190) .. ('f=function() end '):rep(50000))
return {f ~= nil, e}
