-- gsub with a replacement that names the whole match a million times, for each match
return #string.gsub(('x'):rep(1000000), 'x+', ('%0'):rep(1000000))
