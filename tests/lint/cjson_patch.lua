-- A patch of a document, with its version.
local raw = redis.call("GET", KEYS[1])
local ok, doc = pcall(cjson.decode, raw or "{}")
if not ok or type(doc) ~= "table" then
  return redis.error_reply("ERR stored value is not an object")
end
local okp, patch = pcall(cjson.decode, ARGV[1])
if not okp then return redis.error_reply("ERR patch is not JSON") end
for name, value in pairs(patch) do
  if value == cjson.null then doc[name] = nil else doc[name] = value end
end
doc.version = (tonumber(doc.version) or 0) + 1
redis.call("SET", KEYS[1], cjson.encode(doc), "KEEPTTL")
return doc.version
