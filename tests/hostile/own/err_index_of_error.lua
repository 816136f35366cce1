-- an error whose text is inherited
error(setmetatable({}, {__index = {err = 'E inherited', line = 5, source = 'a\r\n+OK'}}))
