--- error with each kind of value and level
for _, a in ipairs({'"text"', '5', 'nil', 'true', '{}', '{err = "CODE text"}', '{err = 5}', '{err = {}}', '{ok = "x"}', 'function() end', 'setmetatable({}, {__tostring = function() return "mt" end})', 'setmetatable({}, {__index = {err = "from index"}})', '""', '"a\\0b"', '"two\\r\\nlines"'}) do
  local parts = {}
  for _, level in ipairs({'nil', '0', '1', '2', '3', '50', '-1', '"1"', '1.9'}) do
    local f = loadstring('return function(v, l) local function inner() error(v, l) end inner() end', '=chunk')()
    parts[#parts + 1] = try(f, value(a), (value(level)))
  end
  emit(a, '->', table.concat(parts, ' | '))
end
--- xpcall with each kind of error and handler
local handlers = {
  same = function(e) return e end, text = function(e) return 'handled ' .. tostring(type(e) == 'table' and 'table' or e) end, none = function() end, many = function(e) return 1, 2, 3 end,
  failing = function(e) error('in handler') end, server = __redis__err__handler, builtin = type, ['nil'] = nil, number = 5, tableh = {}, call = setmetatable({}, {__call = function(_, e) return 'called' end}),
}
for _, h in ipairs({'same', 'text', 'none', 'many', 'failing', 'server', 'builtin', 'nil', 'number', 'tableh', 'call'}) do
  local parts = {}
  for _, code in ipairs({'error("text")', 'error("text", 0)', 'error(5)', 'error(nil)', 'error(true)', 'error({err = "E x"})', 'error({1})', 'local x = nil; return x.y', 'return 1 + {}', 'return nosuch', 'redis.call("nosuch")', 'return 1, 2, 3', 'string.rep()', 'error(setmetatable({}, {__tostring = function() return "t" end}))'}) do
    parts[#parts + 1] = try(xpcall, loadstring(code, '=inner'), handlers[h])
  end
  emit(h, '->', table.concat(parts, ' | '))
end
emit('arguments are not passed ->', try(xpcall, function(...) return select('#', ...) end, type, 1, 2))
emit('nested ->', try(pcall, pcall, error, 'x'), try(pcall, error), try(pcall, pcall), try(xpcall, function() return pcall(error, 'in') end, type))
--- texts with their places
each [==[
error("here")
error("here", 2)
error("here", 3)
local function f() error("deep") end f()
local function f() error("deep", 2) end f()
local function f() return error("tail") end f()
local function f() return error("tail", 2) end return f()
pcall(error, "x", 1), pcall(error, "x", 2)
string.rep("x", {})
("x"):rep({})
("x"):bad()
local s = "x" s:bad()
string.nosuch()
math.floor("x")
math.floor({})
math.floor()
local t = {} t.x.y = 1
local t = {x = {}} t.x.y.z = 1
local t = {} t:nosuch()
local t = {} return t.a.b.c
local t = {} return t[1][2]
local a return a.b
local a return a[1]
local a return a()
local a return a + 1
local a return 1 .. a
local a return #a
local a return -a
local a return a < 1
local a, b = {}, {} return a < b
local a, b = 1, "1" return a < b
return nil .. "x"
return {} .. "x"
return "abc" + 1
return {} + 1
return 1 + true
return 2 ^ {}
return -{}
return -"abc"
return #5
return #nil
return nil < 1
return {} < 1
return 1 < "1"
return true < false
return nosuch
nosuch = 1
return nosuch.x
nosuch()
_G.nosuch = 1
return _G.nosuch
return _G[1]
return _G[nil]
return _G[{}]
return _G[true]
rawset(_G, "x", 1)
rawget(_G, "nosuch")
KEYS.x = 1 return KEYS.x
string.x = 1
string.upper = nil
redis.call = nil
redis.nosuch()
return redis.nosuch
cjson.x = 1
math.pi = 3
setmetatable(_G, {})
setmetatable(string, {})
setmetatable(redis, nil)
getmetatable("").__index = nil
getmetatable(_G).__index = nil
getmetatable(_G).x = 1
return getmetatable(string)
return getmetatable(redis)
return type(getmetatable(_G))
table.insert(string, 1)
table.insert(_G, 1)
table.remove(string, 1)
table.sort(string)
rawset(redis, "x", 1)
for k in pairs(_G) do _G[k] = nil end
coroutine.wrap(function() error("in coroutine") end)()
coroutine.wrap(function() error({err = "E in coroutine"}) end)()
coroutine.wrap(function() local x = nil; x() end)()
loadstring("error('in chunk')", "@file.lua")()
loadstring("error('in chunk')", "=name")()
loadstring("error('in chunk')")()
loadstring("\n\nerror('in chunk')")()
loadstring("local x = nil; x.y = 1", "=chunk2")()
table.sort({3, 2, 1}, function(a, b) error("in sort") end)
string.gsub("x", "x", function() error("in gsub") end)
setmetatable({}, {__index = function(t, k) error("in index " .. k) end}).key
return setmetatable({}, {__index = function(t, k) error("in index " .. k) end}).key
return setmetatable({}, {__add = function() error("in add") end}) + 1
return tostring(setmetatable({}, {__tostring = function() error("in tostring") end}))
for i = 1, {} do end
for i = "x", 2 do end
for i = 1, 2, {} do end
for i = 1, 2, nil do end
for k in pairs(5) do end
for k in 5 do end
local t = setmetatable({}, {__newindex = function() error("in newindex") end}) t.x = 1
local t = setmetatable({}, {__call = 5}) t()
local function f(n) return f(n - 1) end
local function f(n) if n == 0 then error("bottom") end f(n - 1) end f(10)
redis.call()
redis.call("nosuch")
redis.call("GET")
redis.call("GET", {})
redis.call({})
redis.call("SET", "k", "v", "BAD")
redis.call("MULTI")
redis.call("BLPOP", "l", 0)
redis.pcall("nosuch").err
return redis.pcall("nosuch").err
return redis.pcall("GET").err
return redis.pcall().err
return redis.pcall({}).err
error(redis.pcall("nosuch"))
error(redis.error_reply("MY error"))
redis.setresp(4)
redis.setresp()
redis.set_repl(9)
redis.log()
redis.log("x", "y")
redis.log(9, "y")
redis.sha1hex()
redis.sha1hex(1, 2)
redis.error_reply()
redis.error_reply(1)
redis.status_reply({})
redis.acl_check_cmd()
redis.acl_check_cmd("nosuch")
]==]
--- texts of a line in the middle of a script

local function first()
  local t = {}
  return t.x.y
end
emit('line ->', try(first))
emit('line ->', try(function()

  error('three lines down') end))
emit('call over lines ->', try(function()
  local f = nil
  return f(1,
    2)
end))
emit('operator over lines ->', try(function()
  local x = {}
  return 1
    +
    x
end))
--- stack overflow
local function deep() return 1 + deep() end
local ok, message = pcall(deep)
emit('stack ->', show(ok), message:match('^[^\n]*'):sub(1, 60))
local function tail(n) if n == 0 then return 'done' end return tail(n - 1) end
emit('tail calls ->', try(tail, 100000))
local t = setmetatable({}, {__index = function(t, k) return t[k .. 'x'] end})
emit('C stack ->', (select(2, pcall(function() return t.a end))):match('[^:]*$'):sub(1, 40))
emit('pcall depth ->', (function() local n = 0 local function f() n = n + 1 local ok, e = pcall(f) return ok and e or tostring(e):match('[^:]*$') end return tostring(f()) end)():sub(1, 40))
local s = string.rep('(', 300) .. '1' .. string.rep(')', 300)
emit('nesting ->', show({loadstring('return ' .. s, '=n')}))
emit('nesting ->', show({loadstring('return ' .. string.rep('{', 250) .. string.rep('}', 250), '=n')}))
emit('functions ->', show({loadstring(string.rep('return function() ', 250) .. string.rep(' end', 250), '=n')}))
emit('blocks ->', show({loadstring(string.rep('do ', 250) .. string.rep(' end', 250), '=n')}))
local many = {} for i = 1, 201 do many[i] = 'local v' .. i end
emit('locals ->', show({loadstring(table.concat(many, ' '), '=n')}))
local ups, names = {}, {} for i = 1, 61 do ups[i] = 'local v' .. i names[i] = 'v' .. i end
emit('upvalues ->', show({loadstring(table.concat(ups, ' ') .. ' return function() return ' .. table.concat(names, '+') .. ' end', '=n')}))
emit('registers ->', show({loadstring('return f(' .. string.rep('a,', 260) .. 'a)', '=n')}))
emit('assignments ->', show({loadstring(string.rep('a,', 300) .. 'a = 1', '=n')}))
