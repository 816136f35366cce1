--- binary operators over each pair of kinds
for op in ('+ - * / % ^ .. == ~= < <= > >= and or'):gmatch('%S+') do
  local f = loadstring('local a, b = ... return a ' .. op .. ' b', '=op')
  for _, a in ipairs(VALUES) do
    local parts = {}
    for _, b in ipairs(VALUES) do parts[#parts + 1] = try(f, value(a), (value(b))) end
    emit(op, a, '->', table.concat(parts, ' | '))
  end
end
--- unary operators over each kind
for op in ('- not #'):gmatch('%S+') do
  local f = loadstring('local a = ... return ' .. op .. ' a', '=op')
  for _, a in ipairs(VALUES) do emit(op, a, '->', try(f, (value(a)))) end
end
--- what is indexed, called and assigned to, by how it is named
for _, a in ipairs(VALUES) do
  local parts = {}
  for _, code in ipairs({'return (...).x', 'local l = ... return l.x', 'local l = ... return l.x.y', 'local l = ... l.x = 1', 'local l = ... return l()',
    'local l = {f = ...} return l.f()', 'local l = {f = ...} return l.f.g', 'local l = {f = ...} return l.f.g.h', 'local l = ... return l:m()',
    'local l = ... return (function() return l() end)()', 'local l = ... return (function() return l.x end)()', 'return (...)()',
    'local l = ... return l[1]', 'local l = ... l[1] = 2', 'local l = {...} return l[1]()', 'local l = {...} return l[1].x', 'local l = ... return l + 1, 1 + l',
    'local l = {f = ...} return l.f + 1', 'local l = {f = ...} return 1 .. l.f', 'local l = {f = ...} return l.f < 1', 'local l = ... return -l', 'local l = {f = ...} return #l.f'}) do
    parts[#parts + 1] = try(loadstring(code, '=at'), (value(a)))
  end
  emit(a, '->', table.concat(parts, ' | '))
end
--- precedence and associativity
each [==[
1 + 2 * 3 - 4 / 2
2 ^ 3 ^ 2
-2 ^ 2
not nil == true
not (nil == true)
1 .. 2 .. 3
"a" .. 1 + 2 .. "b"
1 < 2 == true
1 == 1 ~= false
1 or error("not reached")
nil and error("not reached")
nil or false
false and nil
1 and 2 or 3
nil and 2 or 3
- - 2
not not nil
# "abc" + 1
-"2" ^ 2
2 ^ -1
5 % 3 * 2
-5 % 3
5 % -3
-5 % -3
5.5 % 2
-0.5 % 1
1e308 * 10 % 3
5 % 0
0 / 0 ~= 0 / 0
1 / 0 == math.huge
-1 / 0 == -math.huge
5 % (1 / 0)
-5 % (1 / 0)
2 ^ 0.5
(-8) ^ (1 / 3)
0 ^ 0
"10" + 5
"0x10" + 1
" 10 " * "2"
"1e1" / 5
"abc" + 1
10 .. ""
-0 .. ""
1e15 .. ""
1e14 .. " " .. 1e100
2^53 .. ""
0.1 .. ""
1/3 .. ""
"a" < "b"
"a" < "B"
"" < "a"
"a" < "a\0"
"a\0b" < "a\0c"
"Z" < "a"
"10" < "9"
"a" == "a\0"
{} == {}
1 == "1"
]==]
--- metamethods, by event and side
local calls = {}
local function handler(event) return function(a, b, c)
  local function name(v) return type(v) == 'table' and rawget(v, 'name') or show(v, 0) end
  calls[#calls + 1] = event .. '(' .. name(a) .. ',' .. name(b) .. ',' .. name(c) .. ')'
  return event, 'second'
end end
local events = {}
for event in ('add sub mul div mod pow unm concat len eq lt le index newindex call tostring'):gmatch('%S+') do
  events['__' .. event] = handler(event)
end
local a, b = setmetatable({name = 'a'}, events), setmetatable({name = 'b'}, events)
local plain = setmetatable({name = 'p'}, {__index = {}})
for _, code in ipairs({'a+b', 'a+1', '1+a', 'a-b', 'a*2', '2/a', 'a%b', 'a^2', '2^a', '-a', 'a..b', 'a.."x"', '"x"..a', '1 ..a', '"x"..a.."y"', '"x".."y"..a', '#a', 'a==b', 'a~=b', 'a==a', 'a==1',
  'a==plain', 'a<b', 'a<1', '1<a', '"x"<a', 'a<=b', 'a>b', 'a>=b', 'a<plain', 'plain<a', 'a.x', 'a[1]', 'a[nil]', 'a.name', 'a(1,2)', 'a()', 'a:m()', 'a "x"', 'tostring(a)', 'rawget(a,"q")', 'rawequal(a,b)', 'a and b',
  'not a', 'plain+a', 'plain+1', 'plain..a', 'plain..1', '-plain', 'plain<plain', 'plain<=1', 'plain()', 'a+nil', 'nil+a', 'a..nil', 'true<a'}) do
  calls = {}
  local r = try(loadstring('local a, b, plain = ... return ' .. code, '=meta'), a, b, plain)
  emit(code, '->', r, 'by', table.concat(calls, ' '))
end
calls = {}
a.x, a[2] = 1, 'two'
emit('assignments ->', table.concat(calls, ' '))
--- comparisons need the same handler on both sides
local lt, eq = function() return true end, function() return 1 end
local function make(t) return setmetatable({}, t) end
local pairs_of = {
  {make({__lt = lt}), make({__lt = lt})}, {make({__lt = lt}), make({__lt = function() return true end})}, {make({__lt = lt}), make({})},
  {make({__eq = eq}), make({__eq = eq})}, {make({__eq = eq}), make({__eq = function() return 1 end})}, {make({__eq = eq}), {}}, {make({__le = lt}), make({__le = lt})},
  {make({__lt = function() return nil end}), 0}, {make({__eq = eq}), 'x'}, {make({__lt = lt}), 'x'},
}
pairs_of[8][2] = pairs_of[8][1]
for i, p in ipairs(pairs_of) do
  local parts = {}
  for _, op in ipairs({'==', '~=', '<', '<=', '>', '>='}) do
    parts[#parts + 1] = op .. ' ' .. try(loadstring('local a, b = ... return a ' .. op .. ' b', '=cmp'), p[1], p[2])
  end
  emit(tostring(i), '->', table.concat(parts, ' | '))
end
--- chains of __index and __newindex
local base = {deep = 'found'}
local mid = setmetatable({}, {__index = base})
local top = setmetatable({}, {__index = mid, __newindex = base})
emit('read ->', try(function() return top.deep, top.none, rawget(top, 'deep') end))
top.fresh = 1
emit('write ->', show(rawget(top, 'fresh')), show(base.fresh))
local log = {}
local proxy = setmetatable({}, {__index = function(t, k) log[#log + 1] = tostring(k) return k end, __newindex = function(t, k, v) rawset(t, k, v) end})
emit('function ->', try(function() local r = proxy.a .. proxy[1] proxy.a = 2 return r, proxy.a end), table.concat(log, ','))
local loop = {} setmetatable(loop, {__index = loop})
emit('loop ->', try(function() return loop.x end))
local loop2 = {} setmetatable(loop2, {__newindex = loop2})
emit('loop ->', try(function() loop2.x = 1 end))
emit('index of a value ->', try(function() return setmetatable({}, {__index = 5}).x end), try(function() return setmetatable({}, {__index = 'abc'}).len end))
emit('call chain ->', try(function() return setmetatable({}, {__call = setmetatable({}, {__call = function() return 1 end})})() end))
emit('string index ->', try(function() return ('x').len, ('x').nosuch, ('x')[1] end), try(function() ('x').y = 1 end))
emit('number index ->', try(function() return (5).x end), try(function() return (nil).x end), try(function() return (true).x end))
--- numeric for with each kind of bound
for _, a in ipairs({'1', '3', "'2'", "'x'", 'nil', '{}', '1.5', '-1', '0/0', '1/0'}) do
  local parts = {}
  for _, b in ipairs({'3', "'3'", 'nil', '0/0', '-1/0'}) do
    for _, c in ipairs({'1', '-1', "'1'", 'nil', '0.5', 'true'}) do
      if not (a == '1/0' and b == '3' and c ~= '1') then
        parts[#parts + 1] = try(loadstring('local a, b, c, n, r = ... n, r = 0, "" for i = a, b, c do n = n + 1 r = r .. i .. "," if n > 5 then break end end return r', '=for'), value(a), value(b), (value(c)))
      end
    end
  end
  emit('for', a, '->', table.concat(parts, ' | '))
end
--- generic for
each [==[
local r = "" for k, v in pairs({10, 20, x = 1}) do r = r .. tostring(k) .. tostring(v) end return r
local r = "" for i, v in ipairs({1, 2, nil, 4}) do r = r .. i end return r
for k in nil do end
for k in 5 do end
for k in {} do end
for k in "x" do end
local r = 0 for k in function(s, c) c = (c or 0) + 1 if c < 4 then return c end end do r = r + k end return r
local r = {} for a, b, c in function(s, c) if c < 2 then return c + 1, s, "third" end end, "state", 0 do r[#r + 1] = a .. b .. c end return table.concat(r, " ")
for k in setmetatable({}, {__call = function(_, s, c) if not c then return 1 end end}) do return k end
for k, v in next, {5} do return k, v end
for k, v in next, {5}, 1 do return k, v end return "none"
for k in pairs(nil) do end
for k in pairs() do end
for k in ipairs("x") do end
]==]
--- assignments and adjustment
each [==[
local a, b, c = (function() return 1, 2, 3 end)() return a, b, c
local a, b, c = (function() return 1, 2, 3 end)(), 10 return a, b, c
local a, b = ((function() return 1, 2 end)()) return a, b
local a, b, c = 1 return a, b, c
local a = 1, 2 return a
local t = {(function() return 1, 2 end)(), (function() return 1, 2 end)()} return #t
local t = {((function() return 1, 2 end)())} return #t
local t = {...} return #t
local i, t = 1, {} i, t[i] = i + 1, 20 return i, t[1], t[2]
local a, b = 1, 2 a, b = b, a return a, b
local t = {} t[nil] = 1
local t = {} t[0/0] = 1
local t = {} t[1.0] = "a" t["1"] = "b" return t[1], #t, t["1"]
local t = {} t[-0] = 1 return t[0]
local t = {[1] = "a", "b"} return t[1]
local t = {1, 2, nil, 4} return #t
local t = {n = 1, [2] = 2, 3; 4} return t[1], t[2], t.n
return select("#", nil, nil), select("#")
local function f(...) return select("#", ...), ... end return f(nil, 1, nil)
local function f(a, ...) local x, y = ... return a, x, y end return f(1, 2)
local function f(...) return (...) end return f(1, 2), f()
local function f(...) local arg = {n = 0} return arg.n, select("#", ...) end return f(1, 2)
local function f(...) return arg end return f(1)
return (function(...) return #{...} end)(1, 2, nil)
do local x = 1 do local x = 2 end return x end
local x = x return x
local f = function() return f end return f()
local function f() return f end return f() == f
local t = {} function t.a.b() end
local t = {} function t:m() return self == t end return t:m()
repeat local x = 1 until x == 1 return x
while false do end return "done"
goto = 1 return goto
local n = 0 repeat n = n + 1 if n == 3 then break end until false return n
]==]
