-- What the next script sees: every global, every member of every library and what it does, the settings.
local seen = {}
local function add(...) for i = 1, select('#', ...) do seen[#seen + 1] = tostring((select(i, ...))) end end
local names = {}
for name, value in pairs(_G) do names[#names + 1] = name .. ' ' .. type(value) end
table.sort(names)
add(table.concat(names, ','))
for _, library in ipairs({'string', 'table', 'math', 'coroutine', 'redis', 'bit', 'struct', 'cjson', 'cmsgpack'}) do
  local members, value = {}, rawget(_G, library)
  if value then
    for name, member in pairs(value) do
      members[#members + 1] = tostring(name) .. '=' .. (type(member) == 'number' and tostring(member) or type(member))
    end
    table.sort(members)
    add(library, table.concat(members, ','), #value, pcall(rawset, value, 'x', 1))
  end
end
for _, value in ipairs({1, 'x', true, (1 == 1), add, coroutine.create(add)}) do add(type(value), type(getmetatable(value))) end
add(('x'):upper(), ('%5.1f|%q|%-3s'):format(2.25, 'a\nb', 'z'), ('abc'):gsub('%w', '%0%0'), ('k=v'):match('(%w)=(%w)'))
add(pcall(function() return nope end))
add(pcall(function() nope = 1 end))
add(pcall(function() return 'a' + 1 end))
add(pcall(error, {err = 'E x'}))
add(#KEYS, #ARGV, next(KEYS), next(ARGV), getmetatable(KEYS), getmetatable(ARGV))
add(collectgarbage('setpause', 200), collectgarbage('setstepmul', 200))
add(redis.call('GET', 'no key of this name'), redis.call('PING').ok, redis.sha1hex(''))
add(coroutine.running(), coroutine.wrap(function() return coroutine.status(coroutine.running()) end)())
add(loadstring('return 1 + 1')(), select(2, loadstring('return +')), tostring(1e100), tostring(0 / 0 ~= 0 / 0), 2 ^ 53)
if rawget(_G, 'cjson') then
  add(cjson.encode({1, 2, {a = 'b'}}), cjson.decode('[1,{"a":null}]')[1], pcall(cjson.encode, {[1] = 1, [100] = 1}))
  local deep = '1'
  for _ = 1, 900 do deep = '[' .. deep .. ']' end
  add(type(cjson.decode(deep)), cjson.encode(0.1 + 0.2))
end
if rawget(_G, 'cmsgpack') then add(cmsgpack.unpack(cmsgpack.pack({1, 'two'}))[2]) end
return seen
