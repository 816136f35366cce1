-- errors of pcall raised again, wrapped in tables, without end
local e = {err = 'E first'}
while true do local _, got = pcall(error, e) e = {err = tostring(got) .. 'x'} if #e.err > 1000 then e = {err = 'E'} end end
