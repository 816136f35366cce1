-- constants in great number in one function, all different
local t = {} for i = 1, 100000 do t[i] = i + 0.5 end
local f, e = loadstring('local a ' .. 'a={' .. table.concat(t, ',') .. '}')
return {f ~= nil, e}
