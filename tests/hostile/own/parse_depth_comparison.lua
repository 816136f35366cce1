-- comparisons in a chain
return loadstring('return ' .. ('a < '):rep(200000) .. 'a')
