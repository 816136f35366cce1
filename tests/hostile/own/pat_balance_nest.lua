-- %b of brackets nested a hundred thousand deep
return string.find(('('):rep(100000) .. (')'):rep(100000), '%b()')
