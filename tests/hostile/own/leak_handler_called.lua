-- the handler of errors, called by hand with every library
for _, library in ipairs({redis, string, table, math, bit, cjson, cmsgpack, struct, coroutine, _G, getmetatable(''), getmetatable(_G)}) do pcall(__redis__err__handler, library) end
return {tostring(redis.line), tostring(redis.source), tostring(('x').line)}
