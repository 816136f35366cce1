-- long brackets of every level inside each other
local s = 'x' for i = 0, 2000 do s = '[' .. ('='):rep(i) .. '[' .. s .. ']' .. ('='):rep(i) .. ']' if #s > 900000 then break end end
return loadstring('return ' .. s) ~= nil
