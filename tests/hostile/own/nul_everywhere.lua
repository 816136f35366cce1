-- NUL, CR and LF in names, keys, values, messages and patterns
redis.call('SET', 'a\0b\r\nc', '\0\r\n')
return {redis.call('GET', 'a\0b\r\nc'), redis.pcall('GE\0T', 'x'), redis.pcall('\r\n'), pcall(loadstring, 'return "\0"', '\0'), ('a\0b'):rep(2, '\0'), tostring('\0'), redis.sha1hex('\0'), pcall(error, 'a\0b\r\n'), ('\0'):byte(), #('\0\0'), '\0' < '\1', '' < '\0', {ok = '\0'}, {err = '\0\r\n'}}
