-- a set of megabytes, looked through for each byte
return string.find(('b'):rep(100000), '[' .. ('a'):rep(8000000) .. ']')
