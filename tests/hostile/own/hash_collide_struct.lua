-- struct.unpack of strings that share a hash, thousands at once
local l = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
local function c(i) i = math.floor(i) % 62 return l:sub(i + 1, i + 1) end
local a = ('a'):rep(26)
local o = {} for i = 0, 6999 do o[i + 1] = a .. c(i) .. 'a' .. c(i / 62) .. 'a' .. c(i / 3844) .. 'a' .. 'X' end
local text = table.concat(o)
local f = ('c32x'):rep(7000)
return select('#', struct.unpack(f, text))
