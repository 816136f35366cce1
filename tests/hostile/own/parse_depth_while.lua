-- loops in loops deeper than the parser goes
return {loadstring(('while a do '):rep(90000) .. ('end '):rep(90000)), loadstring(('repeat '):rep(80000) .. ('until a '):rep(80000)), loadstring(('for i=1,2 do '):rep(60000))}
