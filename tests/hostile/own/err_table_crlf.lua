-- an error table with line ends and NUL
error({err = 'CODE\r\n+INJECTED\0\r\n'})
