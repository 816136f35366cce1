--- life of a coroutine
local co = coroutine.create(function(a, b)
  local c, d = coroutine.yield(a + b, a * b)
  local e = coroutine.yield(c .. d)
  return 'end', e
end)
emit('first ->', coroutine.status(co), list(coroutine.resume(co, 2, 3)), coroutine.status(co))
emit('second ->', list(coroutine.resume(co, 'x', 'y')), coroutine.status(co))
emit('third ->', list(coroutine.resume(co, 5)), coroutine.status(co))
emit('dead ->', list(coroutine.resume(co)), list(coroutine.resume(co, 1)), coroutine.status(co))
local bad = coroutine.create(function() error('broke') end)
emit('error ->', list(coroutine.resume(bad)), coroutine.status(bad), list(coroutine.resume(bad)))
local badt = coroutine.create(function() error({err = 'E t'}) end)
emit('error table ->', list(coroutine.resume(badt)), coroutine.status(badt))
local own own = coroutine.create(function() return coroutine.resume(own) end)
emit('itself ->', list(coroutine.resume(own)))
local outer outer = coroutine.create(function() local inner = coroutine.create(function() return coroutine.status(outer), coroutine.resume(outer) end) return coroutine.resume(inner) end)
emit('normal ->', list(coroutine.resume(outer)))
emit('main ->', show(coroutine.running()), try(coroutine.yield, 1))
emit('running ->', coroutine.wrap(function() return type(coroutine.running()), coroutine.status(coroutine.running()) end)())
local w = coroutine.wrap(function(...) local n = select('#', ...) while true do n = coroutine.yield(n) end end)
emit('wrap ->', show(w(1, 2, 3)), show(w('a')), show(w()), show(w(nil)))
local dead = coroutine.wrap(function() return 1 end) dead()
emit('dead wrap ->', try(dead), try(coroutine.wrap(function() error('broke') end)), try(coroutine.wrap(function() error('plain', 0) end)))
--- yield across other calls
for name, f in next, {} do end
local function across(f) return list(coroutine.resume(coroutine.create(f))) end
emit('pcall ->', across(function() return pcall(coroutine.yield, 1) end))
emit('pcall ->', across(function() return pcall(function() coroutine.yield(1) end) end))
emit('xpcall ->', across(function() return xpcall(function() coroutine.yield(1) end, type) end))
emit('metamethod ->', across(function() return setmetatable({}, {__index = function() coroutine.yield(1) end}).x end))
emit('metamethod ->', across(function() return setmetatable({}, {__add = function() coroutine.yield(1) end}) + 1 end))
emit('gsub ->', across(function() return string.gsub('x', 'x', function() coroutine.yield(1) end) end))
emit('sort ->', across(function() return table.sort({2, 1}, function() coroutine.yield(1) end) end))
emit('foreach ->', across(function() return table.foreach({1}, coroutine.yield) end))
emit('load ->', across(function() return load(function() coroutine.yield(1) end) end))
emit('tostring ->', across(function() return tostring(setmetatable({}, {__tostring = function() coroutine.yield(1) end})) end))
emit('iterator ->', across(function() for k in function() return coroutine.yield(1) end do end end))
emit('iterator ->', across(function() for k in coroutine.yield do end return 'x' end))
emit('call ->', across(function() return setmetatable({}, {__call = function() return coroutine.yield(1) end})() end))
emit('nested ->', across(function() return coroutine.wrap(function() coroutine.yield(1) coroutine.yield(2) end)() end))
--- generators
local function gen(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i, i * i) end end) end
local r = {} for i, s in gen(5) do r[#r + 1] = i .. ':' .. s end
emit('generator ->', table.concat(r, ' '))
local function permgen(a, n) n = n or #a if n <= 1 then coroutine.yield(table.concat(a)) else for i = 1, n do a[n], a[i] = a[i], a[n] permgen(a, n - 1) a[n], a[i] = a[i], a[n] end end end
r = {} for p in coroutine.wrap(function() permgen({'a', 'b', 'c'}) end) do r[#r + 1] = p end
emit('permutations ->', table.concat(r, ' '))
local depth, deepest = 0
local function nest() depth = depth + 1 local ok, e = coroutine.resume(coroutine.create(nest)) if not ok then deepest = e end end
nest()
emit('nested resumes ->', tostring(deepest):match('[^:]*$'))
emit('commands in a coroutine ->', list(coroutine.resume(coroutine.create(function() return redis.call('PING').ok, redis.call('nosuch') end))))
emit('upvalues ->', (function() local n = 0 local co = coroutine.wrap(function() n = n + 1 coroutine.yield() n = n + 10 end) co() co() return tostring(n) end)())
--- closures and upvalues
local fs = {} for i = 1, 3 do fs[i] = function() i = i + 1 return i end end
emit('loop variables ->', fs[1](), fs[1](), fs[2](), fs[3]())
local function counter() local n = 0 return function() n = n + 1 return n end, function() return n end end
local up, read = counter() up() up()
emit('shared ->', read(), (counter()()))
local a = {} do local x = 1 a.get, a.set = function() return x end, function(v) x = v end end
a.set(5) emit('scope ->', a.get())
