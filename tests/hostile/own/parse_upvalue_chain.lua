-- an upvalue passed through functions nested as deep as they go
return loadstring('local v ' .. ('return function() '):rep(180) .. 'return v ' .. ('end '):rep(180))
