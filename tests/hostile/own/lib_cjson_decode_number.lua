-- A number of a million digits, again and again.
local s = string.rep('1', 500000) .. '.' .. string.rep('2', 500000) .. 'e-499999' while true do cjson.decode(s) end
