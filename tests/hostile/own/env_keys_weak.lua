-- KEYS and ARGV as weak tables, cleared by the collector
for _, list in ipairs({KEYS, ARGV}) do setmetatable(list, {__mode = 'kv'}) list[3] = {} list[{}] = 1 end
collectgarbage()
return {#KEYS, next(KEYS) == nil, #ARGV}
