-- assert with everything
local r = {}
for _, a in ipairs({false, 0, '', {}}) do r[#r + 1] = tostring(pcall(assert, a, a)) end
return {r, pcall(assert), pcall(assert, nil), pcall(assert, false, {err = 'E x'}), pcall(assert, nil, nil)}
