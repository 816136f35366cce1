-- every way to the metatable of strings
local mt = getmetatable('')
local r = {}
for i, way in ipairs({function() mt.__index = nil end, function() mt.__add = 1 end, function() rawset(mt, '__index', {}) end, function() setmetatable(mt, {}) end, function() setmetatable('', {}) end, function() mt.__index.upper = nil end, function() getmetatable(mt).__newindex = nil end, function() rawset(mt.__index, 'upper', nil) end, function() table.insert(mt, 1) end, function() table.insert(mt.__index, 1) end}) do r[i] = tostring(pcall(way)) end
return {r, ('x'):upper(), pcall(function() return 'a' + 1 end)}
