-- a status table with line ends, alone
return {ok = 'fine\r\n-ERR not fine\r\n'}
