redis.replicate_commands()
local rate, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local t = redis.call("TIME")
local now = tonumber(t[1]) + tonumber(t[2]) / 1e6
local raw = redis.call("HMGET", KEYS[1], "tokens", "at")
local tokens = tonumber(raw[1]) or burst
local at = tonumber(raw[2]) or now
tokens = math.min(burst, tokens + (now - at) * rate)
local allowed = tokens >= 1
if allowed then tokens = tokens - 1 end
redis.call("HSET", KEYS[1], "tokens", tokens, "at", string.format("%.6f", now))
redis.call("PEXPIRE", KEYS[1], math.ceil(burst / rate * 1000))
return { allowed and 1 or 0, tostring(tokens) }
