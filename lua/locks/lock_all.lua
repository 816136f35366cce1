-- Takes several locks at once: all of them, or none. Each is given back by unlock, and gets more time by renew_lock.
--
--   KEYS[1]  the first of 1 to 100 locks: strings with the token of whoever holds them, all with one hash tag: {order}:stock, {order}:cart
--   ARGV[1]  the caller's token, not empty, never used before
--   ARGV[2]  the time in milliseconds after which they are free again, from 1 to 604800000 (a week)
--
-- Replies 1 when all are the caller's now, 0 when one of them was held.
--
--!contract lock_all
--!key   locks  any rw ttl=set ...(1, 100)
--!argv  owner  token
--!argv  ttl    int(1, 604800000)
--!error arity, owner  "Expected 1 to 100 keys, owner token and TTL"
--!error ttl           "TTL must be an integer from 1 to 604800000"
--!reply int(0, 1)
--!case exists(locks) == 0 => 1 ; locks = owner, pttl(locks) = ttl
--!case else               => 0
--!writes locks when reply == 1
--!instructions 1700

local owner, ttl = ARGV[1], ARGV[2]
if #KEYS < 1 or #KEYS > 100 or #ARGV ~= 2 or owner == "" then
  return redis.error_reply("Expected 1 to 100 keys, owner token and TTL")
end
if not string.find(ttl, "^[1-9]%d*$") or tonumber(ttl) > 604800000 then
  return redis.error_reply("TTL must be an integer from 1 to 604800000")
end

for _, lock in ipairs(KEYS) do
  if redis.call("EXISTS", lock) == 1 then
    return 0
  end
end
for _, lock in ipairs(KEYS) do
  redis.call("SET", lock, owner, "PX", ttl)
end
return 1
