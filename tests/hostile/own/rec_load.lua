-- load in the reader of load, as deep as it goes
local function reader() load(reader) return nil end
return pcall(load, reader)
