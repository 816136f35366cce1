-- errors near tokens with control bytes
local r = {}
for _, t in ipairs({'\1', '\r', '\n', '\0', '\127', '\255', '"\n', "'\r\n", '\27'}) do r[#r + 1] = select(2, loadstring('x = ' .. t .. ' x')) or 'fine' end
return r
