-- an error with line ends and NUL
error('A\r\n+INJECTED\r\n:1\r\n\0$5\r\nhello')
