local c = 0
for i, key in ipairs(KEYS) do
  if redis.call("get", key) == ARGV[1] then
    if redis.call("pexpire", key, ARGV[2]) == 1 then c = c + 1 else return { c, i } end
  end
end
return c
