-- every command that scripts may not call
local r = {}
for _, c in ipairs({'EVAL', 'EVALSHA', 'SCRIPT', 'MULTI', 'EXEC', 'DISCARD', 'WATCH', 'SUBSCRIBE', 'MONITOR', 'SHUTDOWN', 'CLIENT', 'CONFIG', 'DEBUG', 'SAVE', 'BGSAVE', 'REPLICAOF', 'FUNCTION', 'FCALL', 'HELLO', 'AUTH', 'QUIT', 'RESET', 'BLPOP', 'WAIT', 'ACL', 'MODULE', 'SYNC'}) do
  for _, a in ipairs({{}, {'x'}, {'1', '0'}, {'GET', '*'}, {'return 1', '0'}, {'KILL'}, {'SLEEP', '100'}, {'FLUSH'}}) do r[#r + 1] = type(redis.pcall(c, unpack(a))) end
end
return #r
