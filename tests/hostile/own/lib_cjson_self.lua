-- The libraries, the globals and the settings as values.
pcall(cjson.encode, _G) pcall(cjson.encode, cjson) pcall(cmsgpack.pack, _G) return #cmsgpack.pack(cjson, _G, redis, getmetatable(_G))
