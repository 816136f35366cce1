-- a plain find whose text and needle agree for a long way at every place
local s = ('a'):rep(8000000)
return s:find(('a'):rep(4000000) .. 'b', 1, true)
