-- an error that is the table of globals (then: return line, a global of that name)
local globals = _G error(globals)
