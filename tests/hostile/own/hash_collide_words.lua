-- a source that names one word thousands of times, found last of all strings of its hash that are there already
local l = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
local function c(i) i = math.floor(i) % 62 return l:sub(i + 1, i + 1) end
local keep = {} for i = 1, 8000 do keep[i] = ('a'):rep(26) .. c(i) .. 'a' .. c(i / 62) .. 'a' .. c(i / 3844) .. 'a' end
local text = 'x = ' .. table.concat({(keep[1] .. ' '):rep(1)}) .. ('+ ' .. keep[1] .. ' '):rep(25000)
while true do loadstring(text) end
