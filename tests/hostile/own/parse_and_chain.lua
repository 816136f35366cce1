-- a long chain of and: the parser walks the list of jumps for each
return loadstring('return ' .. ('a and '):rep(160000) .. 'a')
