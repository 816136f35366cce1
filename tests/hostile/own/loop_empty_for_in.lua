-- a generic loop whose iterator is a function of C that never ends
for x in redis.breakpoint do if x == nil then break end end
for k in next, {1}, nil do end
for x in math.random do end
