-- an assignment to as many variables as there may be
return {loadstring(('a,'):rep(300) .. 'a=1'), loadstring(('a.b,'):rep(300) .. 'a.b=1'), loadstring('a' .. ('[1]'):rep(100000) .. '=1')}
