-- readers that return what is no text
local r = {}
for _, v in ipairs({true, {}, 1, 0 / 0, function() end, coroutine.create(function() end), ''}) do r[#r + 1] = tostring(select(2, load(function() return v end))) end
return r
