-- string.format("%q") quotes megabytes, four bytes for each
local s = ('\0"\n'):rep(1000000)
while true do local q = string.format('%q', s) end
