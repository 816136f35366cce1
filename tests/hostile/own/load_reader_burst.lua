-- readers that fill the memory while the parser waits
return load(function() local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end end)
