-- not over a long list of jumps
return loadstring('return ' .. ('not '):rep(150) .. '(' .. ('a and '):rep(150000) .. 'a)')
