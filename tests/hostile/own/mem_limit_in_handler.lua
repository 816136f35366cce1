-- out of memory inside the handler of an error
return xpcall(function() error('x') end, function(e) local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end end)
