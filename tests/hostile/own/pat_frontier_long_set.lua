-- a frontier with a set of megabytes at each of many places
return string.find(('ab'):rep(50000), '%f[' .. ('x'):rep(4000000) .. ']')
