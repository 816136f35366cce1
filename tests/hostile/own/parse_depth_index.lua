-- indices in indices deeper than the parser goes
return loadstring('return ' .. ('a['):rep(200000) .. '1' .. (']'):rep(200000))
