-- a new line before a parenthesis
return loadstring('local a = f\n(g)()')
