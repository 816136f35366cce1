-- Takes the first item out of a queue in which each item is once; from then on it may be put into it again.
--
--   KEYS[1]  the queue: a list, as in queue:{crawl}
--   KEYS[2]  the items that are in it: a set, as in queue:{crawl}:items
--
-- Replies the item, or null when the queue is empty.
--
--!contract unique_pop
--!key   queue  list optional rw rm ttl=kept
--!key   items  set optional rw rm ttl=kept
--!error arity       "Expected two keys"
--!error items.type  WRONGTYPE
--!error queue.type  WRONGTYPE
--!reply nil | bytes
--!case not exists(queue) => nil
--!case else              => any ; change queue, change items
--!instructions 50

if #KEYS ~= 2 or #ARGV ~= 0 then
  return redis.error_reply("Expected two keys")
end

-- Here an error of type is raised before anything is written.
redis.call("SCARD", KEYS[2])
local item = redis.call("LPOP", KEYS[1])
if item then
  redis.call("SREM", KEYS[2], item)
end
return item
