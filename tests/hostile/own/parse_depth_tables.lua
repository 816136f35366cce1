-- tables in tables deeper than the parser goes
return loadstring('return ' .. ('{'):rep(300000) .. ('}'):rep(300000))
