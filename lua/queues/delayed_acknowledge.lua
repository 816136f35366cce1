-- Ends a job of a delayed queue that was taken out of it, for good.
--
--   KEYS[1]  the running jobs: a sorted set by the end of their time, as in jobs:{mail}:running
--   KEYS[2]  the bodies: a hash by name, as in jobs:{mail}:bodies
--   ARGV[1]  the name of the job, not empty
--
-- Replies 1 when the job was running, 0 when it was not: it has ended, or nobody has taken it.
--
--!contract delayed_acknowledge
--!key   running  zset optional rw rm ttl=kept
--!key   bodies   hash optional rw rm ttl=kept
--!argv  job      token
--!error arity, job    "Expected two keys and the name of a job"
--!error bodies.type   WRONGTYPE
--!error running.type  WRONGTYPE
--!reply int(0, 1)
--!case has(running, job) => 1 ; change running, change bodies
--!case else              => 0
--!writes running, bodies when reply == 1
--!instructions 60

if #KEYS ~= 2 or #ARGV ~= 1 or ARGV[1] == "" then
  return redis.error_reply("Expected two keys and the name of a job")
end

-- Here an error of type is raised before anything is written.
redis.call("HLEN", KEYS[2])
if redis.call("ZREM", KEYS[1], ARGV[1]) == 0 then
  return 0
end
redis.call("HDEL", KEYS[2], ARGV[1])
return 1
