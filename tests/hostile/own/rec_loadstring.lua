-- loadstring of a text that loads itself
local s s = 'local s = ... return loadstring(s)(s)'
return pcall(loadstring(s), s)
