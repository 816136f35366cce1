-- a status of megabytes with line ends
return {ok = ('a\r\n'):rep(3000000)}
