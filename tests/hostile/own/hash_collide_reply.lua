-- one reply of thousands of strings that share a hash: each is compared with all before it, and nobody looks
local l = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
local function c(i) i = math.floor(i) % 62 return l:sub(i + 1, i + 1) end
local a = ('a'):rep(26)
local o = {}
for i = 0, 19999 do
  o[#o + 1] = a .. c(i) .. 'a' .. c(i / 62) .. 'a' .. c(i / 3844) .. 'a'
  if #o == 500 then redis.call('RPUSH', 'l', unpack(o)) o = {} collectgarbage() end
end
return #redis.call('LRANGE', 'l', 0, -1)
