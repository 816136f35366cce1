-- the identity of functions that are looked up in two ways
return {string.rep == ('x').rep, rawequal(string, getmetatable('').__index), _G._G == _G, _G.string == string, redis.call == redis.call, pairs(_G) == next}
