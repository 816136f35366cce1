-- more registers than a function has
return {loadstring('return ' .. ('{'):rep(250) .. ('}'):rep(250)), loadstring('return f(' .. ('1,'):rep(250) .. '1)'), loadstring('local a = ' .. ('1 .. '):rep(250) .. '1')}
