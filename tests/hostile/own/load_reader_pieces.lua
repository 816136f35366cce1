-- a source in pieces of one byte
local s, i = 'return ' .. ('1+'):rep(50000) .. '1', 0
local f, e = load(function() i = i + 1 return i <= #s and s:sub(i, i) or nil end)
return {f and f() or e}
