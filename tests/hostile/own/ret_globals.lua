-- the globals and the libraries are returned
return {_G, string, redis, getmetatable(''), getmetatable(_G), KEYS}
