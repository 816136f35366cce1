-- errors, states, numbers that are none and texts with line ends inside a map inside a set
redis.setresp(3)
return {{big_number = '1\r\n+OK'}, {verbatim_string = {format = '\r\n', string = 'a\r\nb'}}, {double = 0 / 0}, {map = {[{err = 'a\r\nb'}] = {ok = 'c\r\nd'}}}, {set = {[{set = {}}] = true}}}
