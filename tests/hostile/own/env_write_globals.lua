-- every way to write to the globals
local ways = {
  function() x = 1 end, function() _G.x = 1 end, function() rawset(_G, 'x', 1) end, function() _G['x'] = 1 end,
  function() table.insert(_G, 1) end, function() setmetatable(_G, {}) end, function() setmetatable(_G, nil) end,
  function() getmetatable(_G).__index = nil end, function() getmetatable(_G).__newindex = nil end, function() rawset(getmetatable(_G), '__newindex', nil) end,
  function() loadstring('x = 1')() end, function() string = nil end, function() _G._G = {} end, function() KEYS = {} end, function() for k in pairs(_G) do _G[k] = nil end end,
  function() table.sort(_G) end, function() table.remove(_G, 1) end, function() next = 1 end, function() function redis.x() end end, function() getmetatable(getmetatable(_G)).__newindex = nil end,
}
local r = {}
for i, way in ipairs(ways) do r[i] = tostring(pcall(way)) end
return {r, rawget(_G, 'x') == nil}
