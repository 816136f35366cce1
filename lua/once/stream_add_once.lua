-- Adds a message to a stream, unless one of this name was added within a time.
--
--   KEYS[1]  the stream, as in events:{orders}
--   KEYS[2]  the id of the message of this name, as in events:{orders}:sent:7
--   ARGV[1]  the body
--   ARGV[2]  for how long the name is remembered in milliseconds, from 1 to 2592000000 (30 days)
--
-- Replies {1, id} when it was added, {0, id of the earlier one} when one of this name was.
--
--!contract stream_add_once
--!key   events  stream optional rw ttl=kept
--!key   sent    string bytes optional rw ttl=set
--!argv  body    bytes
--!argv  keep    int(1, 2592000000)
--!error arity        "Expected two keys, body and time"
--!error keep         "Time must be an integer from 1 to 2592000000"
--!error sent.type    WRONGTYPE
--!error events.type  WRONGTYPE
--!reply [int(0, 1), bytes]
--!case exists(sent) => [0, sent]
--!case else         => [1, any] ; change events, change sent, pttl(sent) = keep
--!writes events, sent when reply[1] == 1
--!instructions 90

if #KEYS ~= 2 or #ARGV ~= 2 then
  return redis.error_reply("Expected two keys, body and time")
end

-- The integer from 1 on in a canonical text, of at most so much; nil for any other text.
local function integer(text, most)
  if string.find(text, "^[1-9]%d*$") then
    local number = tonumber(text)
    if number <= most then
      return number
    end
  end
end

local keep = integer(ARGV[2], 2592000000)
if not keep then
  return redis.error_reply("Time must be an integer from 1 to 2592000000")
end
local sent = redis.call("GET", KEYS[2])
-- Here an error of type is raised before anything is written.
redis.call("XLEN", KEYS[1])
if sent then
  return {0, sent}
end
local id = redis.call("XADD", KEYS[1], "*", "body", ARGV[1])
redis.call("SET", KEYS[2], id, "PX", keep)
return {1, id}
