local n = 0
repeat
  local ok = redis.pcall("RENAMENX", KEYS[1], KEYS[2])
  if type(ok) == "table" then return redis.error_reply("ERR " .. ok.err) end
  n = n + 1
until ok == 1 or n > 3
return n
