-- patterns and texts with NUL: a pattern ends there
return {string.find('a\0b', 'a\0c'), string.find('a\0b', '%z'), string.gsub('a\0b', '%z', '\0\0'), string.match('\0\0', '(.)%1')}
