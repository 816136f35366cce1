-- signs before signs deeper than the parser goes
return {loadstring('return ' .. ('- '):rep(200000) .. '1'), loadstring('return ' .. ('#'):rep(200000) .. 'a')}
