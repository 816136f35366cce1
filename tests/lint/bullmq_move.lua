--[[
  Move next job from wait to active (BullMQ style).
    KEYS[1] wait  KEYS[2] active  KEYS[3] lock  KEYS[4] job  KEYS[5] events  KEYS[6] stalled
    ARGV[1] token ARGV[2] lock duration ARGV[3] timestamp
]]
local rcall = redis.call
local function storeEvent(name, jobId)
  rcall("XADD", KEYS[5], "MAXLEN", "~", 10000, "*", "event", name, "jobId", jobId)
end
local function prepare(jobId)
  local set = rcall("SET", KEYS[3], ARGV[1], "PX", ARGV[2], "NX")
  if not set then
    return { err = "lock not acquired" }
  end
  rcall("HSET", KEYS[4], "processedOn", ARGV[3])
  storeEvent("active", jobId)
  return { rcall("HGETALL", KEYS[4]), jobId } -- lint: allow unordered
end
local jobId = rcall("RPOPLPUSH", KEYS[1], KEYS[2])
if jobId then
  return prepare(jobId)
end
return false
