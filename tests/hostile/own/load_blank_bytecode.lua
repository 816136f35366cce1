-- bytecode behind blanks and behind a line that starts with #
local d = string.dump(function() return 42 end)
return {loadstring(' ' .. d), loadstring('\n' .. d), loadstring('#\n' .. d), loadstring('#!lua\n' .. d)}
