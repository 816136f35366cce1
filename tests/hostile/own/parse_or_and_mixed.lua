-- and and or in turn, in parentheses and out of them
return loadstring('return ' .. ('(a and b) or '):rep(70000) .. 'a')
