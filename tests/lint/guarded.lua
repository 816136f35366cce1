local function fail(text) return redis.error_reply(text) end
if #KEYS ~= 1 then return fail("ERR keys") end
if redis.call("SET", KEYS[1], ARGV[1], "EX", 10, "NX") then
  return 1
elseif redis.call("GET", KEYS[1]) == ARGV[1] then
  return 2
else
  return { err = "LOCKED by another" }
end
