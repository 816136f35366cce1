-- a right-associative chain longer than the parser goes
return loadstring('return ' .. ('"a" .. '):rep(100000) .. '"a"')
