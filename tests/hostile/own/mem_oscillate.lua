-- memory up to its limit and down again
while true do pcall(function() local t = {} while true do t[#t + 1] = {#t} end end) end
