-- a comment that does not end, in every form
local r = {}
for _, c in ipairs({'--[[', '--[=[', '--[==[ ]=]', '--', '--[', '--[=', '--[[]', '[[', '[=', '[==[', '"', "'", '"\\', '"\\\n', '"\\9', '"\\300"', "'\r"}) do r[#r + 1] = tostring(loadstring(c)) end
return r
