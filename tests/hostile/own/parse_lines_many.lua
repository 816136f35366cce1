-- a million lines
local f, e = loadstring(('\n'):rep(1000000) .. 'error("x")')
return {pcall(f)}
