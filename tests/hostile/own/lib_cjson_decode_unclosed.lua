-- A text without end, looked for from each of its escapes.
local s = '"' .. string.rep('\\u0041', 500000) while true do pcall(cjson.decode, s) end
