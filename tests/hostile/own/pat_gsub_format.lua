-- gsub whose callback is string.format, with directives out of the text itself
local s = ('%.99f1e308'):rep(100000)
while true do pcall(string.gsub, s, '(%%.99f)(1e308)', string.format) end
