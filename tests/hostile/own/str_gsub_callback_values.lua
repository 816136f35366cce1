-- callbacks of gsub that return what is no text
local r = {}
for _, v in ipairs({true, {}, (1 == 1), function() end, coroutine.create(function() end), 1, 0 / 0}) do
  r[#r + 1] = tostring(pcall(string.gsub, 'abc', 'b', function() return v end))
end
return r
