-- calls in calls deeper than the parser goes
return loadstring('return ' .. ('f('):rep(200000) .. (')'):rep(200000))
