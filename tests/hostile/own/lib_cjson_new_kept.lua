-- Copies of the library, all kept.
local t = {} while true do t[#t + 1] = cjson.new() end
