-- a call of a call of a call
return {loadstring('return f' .. ('()'):rep(400000)), loadstring('return f' .. (':m()'):rep(200000)), loadstring('return f' .. ('""'):rep(400000)), loadstring('return f' .. ('{}'):rep(400000))}
