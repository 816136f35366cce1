-- Three bytes of text for each table.
local s = '[' .. string.rep('{},', 1000000) .. '1]' while true do pcall(cjson.decode, s) end
