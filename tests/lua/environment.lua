--- the globals, in the order of pairs
for k, v in pairs(_G) do emit(k, type(v), type(v) == 'string' and v or '') end
emit('next ->', show((next(_G))), show(rawget(_G, 'nosuch')), show(_G == _G._G), show(#_G))
--- the members of each table, in the order of pairs
for _, name in ipairs({'string', 'table', 'math', 'coroutine', 'redis', 'bit', 'struct', 'cjson', 'cmsgpack'}) do
  local t = _G[name]
  emit(name, '->', show(#t), show(getmetatable(t)), show(next(t) ~= nil))
  for k, v in pairs(t) do emit(name, k, type(v), (type(v) == 'number' or type(v) == 'string') and show(v) or '') end
end
--- what does not exist
for name in ('print dofile loadfile newproxy setfenv getfenv module require package io os debug arg utf8 bit32 jit ffi rawlen table.pack table.unpack table.move string.pack string.unpack math.type math.tointeger coroutine.isyieldable coroutine.close redis.register_function redis.REDIS redis.LOG_INFO cjson.safe'):gmatch('%S+') do
  emit(name, '->', try(loadstring('return ' .. name, '=chunk')))
end
--- nothing can be changed
for _, name in ipairs({'_G', 'string', 'table', 'math', 'coroutine', 'redis', 'bit', 'struct', 'cjson', 'cmsgpack'}) do
  for _, code in ipairs({'t.x = 1', 't[1] = 1', 't.x = nil', 'rawset(t, "x", 1)', 'rawset(t, 1, nil)', 'setmetatable(t, {})', 'setmetatable(t, nil)', 'table.insert(t, 1)', 'table.insert(t, 1, 1)', 'table.remove(t)', 'table.remove(t, 1)', 'table.sort(t)', 'for k in pairs(t) do t[k] = nil end', 'for k in pairs(t) do rawset(t, k, 1) end', 'return getmetatable(t)', 'return table.concat(t)', 'return unpack(t)', 'return table.maxn(t)', 'return table.getn(t)', 'return #t', 'return next(t, "nosuch")', 'return rawget(t, "nosuch")', 'return t == t, rawequal(t, t)', 'return t.nosuch', 'return t[1]', 'return t[true]', 'return table.foreachi(t, type)', 'return ipairs(t)', 'return t()', 'return t + 1', 'return t .. ""', 'return t < t', 'return type(tostring(t))', 'string.gsub("x", "x", t)', 'return string.gsub("upper", "%w+", t)'}) do
    emit(name, code, '->', try(loadstring('local t = ' .. name .. ' ' .. code, '=chunk')))
  end
end
--- metatables of basic types
for _, v in ipairs({'""', '1', 'nil', 'true', 'function() end', 'coroutine.create(type)', 'cjson.null', '{}'}) do
  emit(v, '->', try(loadstring('return getmetatable(' .. v .. ')')), try(loadstring('getmetatable(' .. v .. ').__index = nil', '=chunk')), try(loadstring('setmetatable(' .. v .. ', {})', '=chunk')))
end
local mt = getmetatable('')
emit('string metatable ->', show(mt.__index == string), try(function() mt.x = 1 end), try(rawset, mt, 'x', 1), try(setmetatable, mt, {}), show(getmetatable(mt)), show(next(mt)))
local gmt = getmetatable(_G)
emit('metatable of globals ->', type(gmt), try(function() gmt.__index = nil end), try(function() gmt.__newindex = nil end), try(rawset, gmt, 'x', 1), show((next(gmt))))
--- collectgarbage
each [==[
collectgarbage()
collectgarbage("collect")
collectgarbage("collect", 5)
type(collectgarbage("count"))
collectgarbage("count") > 0
type(gcinfo())
collectgarbage("stop")
collectgarbage("restart")
collectgarbage("setpause", 150), collectgarbage("setpause", 200)
collectgarbage("setstepmul", 300), collectgarbage("setstepmul", 200)
collectgarbage("nosuch")
collectgarbage("step\0x") ~= nil
collectgarbage("collect", "x")
collectgarbage("count", {})
collectgarbage("isrunning")
collectgarbage("nosuch", {})
collectgarbage("generational")
collectgarbage(5)
collectgarbage({})
collectgarbage(nil)
]==]
--- KEYS and ARGV
emit('tables ->', type(KEYS), type(ARGV), show(#KEYS), show(#ARGV), show(getmetatable(KEYS)))
emit('write ->', try(function() KEYS[1] = 'x' ARGV.y = 2 return KEYS, ARGV end), try(function() KEYS = 1 end), try(function() ARGV = {} end), try(setmetatable, KEYS, {__index = function() return 'm' end}), try(function() return KEYS[5] end))
