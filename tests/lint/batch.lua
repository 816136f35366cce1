local cmd, opt = "SET", "NX"
local won = {}
for i = 1, #KEYS do
  local reply = redis.pcall(cmd, KEYS[i], ARGV[i], opt)
  if reply and reply.ok then
    won[#won + 1] = i
  else
    for j = 1, #won do redis.call("DEL", KEYS[won[j]]) end
    return won
  end
end
return won
