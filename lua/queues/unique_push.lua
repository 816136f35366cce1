-- Puts an item at the end of a queue, unless it is in it.
--
--   KEYS[1]  the queue: a list, as in queue:{crawl}
--   KEYS[2]  the items that are in it: a set, as in queue:{crawl}:items
--   ARGV[1]  the item, not empty
--
-- Replies {1, length of the queue} when the item was put into it, {0, length of the queue} when it was there.
--
--!contract unique_push
--!key   queue  list optional rw ttl=kept
--!key   items  set optional rw ttl=kept
--!argv  item   token
--!error arity, item  "Expected two keys and an item"
--!error queue.type   WRONGTYPE
--!error items.type   WRONGTYPE
--!reply [int(0, 1), int(0, 9007199254740991)]
--!case has(items, item) => [0, len(queue)]
--!case else             => [1, len(queue) + 1] ; change queue, change items
--!writes queue, items when reply[1] == 1
--!instructions 60

if #KEYS ~= 2 or #ARGV ~= 1 or ARGV[1] == "" then
  return redis.error_reply("Expected two keys and an item")
end

local length = redis.call("LLEN", KEYS[1])
if redis.call("SADD", KEYS[2], ARGV[1]) == 0 then
  return {0, length}
end
return {1, redis.call("RPUSH", KEYS[1], ARGV[1])}
