-- the strings of a source share a hash: the parser compares each with all before it, and cannot be stopped
local l = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
local function c(i) i = math.floor(i) % 62 return l:sub(i + 1, i + 1) end
local a = ('a'):rep(26)
local o = {} for i = 0, 19999 do o[i + 1] = '"' .. a .. c(i) .. 'a' .. c(i / 62) .. 'a' .. c(i / 3844) .. 'a"' end
local text = 'return {' .. table.concat(o, ',') .. '}'
return #loadstring(text)()
