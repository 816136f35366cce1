local moved = 0
while moved < 100 do
  local item = redis.call("LMOVE", KEYS[1], KEYS[2], "LEFT", "RIGHT")
  if not item then break end
  moved = moved + 1
end
if moved == 0 and redis.call("LLEN", KEYS[1]) > 0 then
  return redis.status_reply("BUSY")
end
if redis.call("DEL", KEYS[3]) < 1 then return { 0, moved } end
return { moved, redis.call("LLEN", KEYS[2]) }
