-- error_reply with line ends before, inside and after
return {redis.error_reply('\r\n-A\r\nB\r\n'), redis.error_reply('-\r\n'), redis.error_reply('\0'), redis.error_reply('-\0x y'), redis.status_reply('\r\n+OK\r\n'), redis.status_reply('a\0b\r\n')}
