-- string.rep of as much as fits, dropped and made again
while true do pcall(string.rep, 'abcdefgh', 1900000) end
