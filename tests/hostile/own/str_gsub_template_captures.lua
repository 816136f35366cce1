-- gsub with a replacement that names one long capture a million times
return #string.gsub(('x'):rep(1000000), '(.*)', ('%1'):rep(1000000))
