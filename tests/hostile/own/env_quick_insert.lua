-- a script that assigns nothing, and writes by functions of C alone
table.insert(KEYS, -5, 'hidden') table.insert(ARGV, 3, 'x') table.insert(KEYS, 'a') table.sort(ARGV) table.remove(KEYS)
return {#KEYS, #ARGV, table.insert and 1, pcall(table.insert, string, 1), pcall(table.insert, redis, 1)}
