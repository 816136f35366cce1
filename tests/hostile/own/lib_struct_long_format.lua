-- A long format, measured over and over.
local f = string.rep('c2147483647', 90000) while true do struct.size(f) end
