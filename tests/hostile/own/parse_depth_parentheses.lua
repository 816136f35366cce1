-- parentheses deeper than the parser goes
return loadstring('return ' .. ('('):rep(300000) .. '1' .. (')'):rep(300000))
