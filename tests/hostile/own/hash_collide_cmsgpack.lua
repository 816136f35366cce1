-- cmsgpack.unpack of strings that share a hash
local l = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
local function c(i) i = math.floor(i) % 62 return l:sub(i + 1, i + 1) end
local a = ('a'):rep(26)
local o = {} for i = 0, 19999 do o[i + 1] = '\217\32' .. a .. c(i) .. 'a' .. c(i / 62) .. 'a' .. c(i / 3844) .. 'a' end
local text = '\220' .. string.char(math.floor(20000 / 256), 20000 % 256) .. table.concat(o)
return #cmsgpack.unpack(text)
