-- handlers that are no functions
local r = {}
for _, h in ipairs({1, 'x', {}, true, setmetatable({}, {__call = function(_, e) return e end}), string.rep, coroutine.create(function() end)}) do r[#r + 1] = tostring(pcall(xpcall, error, h)) end
return {r, pcall(xpcall, error), pcall(xpcall)}
