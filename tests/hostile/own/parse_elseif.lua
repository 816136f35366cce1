-- a long chain of elseif: the parser walks the list of jumps for each
return loadstring('if a then ' .. ('elseif a then '):rep(60000) .. 'end')
