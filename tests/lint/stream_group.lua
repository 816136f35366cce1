local created = redis.pcall("XGROUP", "CREATE", KEYS[1], ARGV[1], "0", "MKSTREAM")
if type(created) == "table" and created.err and not string.find(created.err, "BUSYGROUP", 1, true) then
  return created
end
local id = redis.call("XADD", KEYS[1], "NOMKSTREAM", "*", unpack(ARGV, 2))
if not id then
  return 0
end
return id
