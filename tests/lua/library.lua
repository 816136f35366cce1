--- each function of the base library with each kind of argument
for name in ('assert getmetatable ipairs loadstring next pairs rawequal rawget rawset select setmetatable tonumber tostring type unpack xpcall gcinfo'):gmatch('%S+') do
  if name ~= 'gcinfo' then sweep(name) end
end
emit('pcall ->', try(pcall), try(pcall, nil), try(pcall, 5, 1), try(pcall, 'x'), try(pcall, {}))
for _, a in ipairs(VALUES) do emit('error', a, '->', list(pcall(error, (value(a))))) end
for _, a in ipairs(VALUES) do emit('collectgarbage', a, '->', a == "'abc'" and '' or try(collectgarbage, value(a) == nil and 'collect' or (value(a)))) end
for _, a in ipairs(VALUES) do emit('load', a, '->', try(load, (value(a))), try(load, function() return nil end, (value(a)))) end
--- each function of string with each kind of argument
for name in ('byte char find format gmatch gsub len lower match rep reverse sub upper gfind'):gmatch('%S+') do sweep('string.' .. name) end
emit('string.dump ->', try(function() return type(string.dump(function() end)) end), try(string.dump), try(string.dump, 1), try(string.dump, string.len))
--- each function of table with each kind of argument
for name in ('concat foreach foreachi getn insert maxn remove setn sort'):gmatch('%S+') do sweep('table.' .. name) end
--- each function of math with each kind of argument
for name in ('abs acos asin atan ceil cos cosh deg exp floor frexp log log10 modf rad sin sinh sqrt tan tanh'):gmatch('%S+') do
  emit(name, '->', try(math[name]))
  for _, a in ipairs(VALUES) do emit(name, a, '->', try(math[name], (value(a)))) end
end
for name in ('atan2 fmod ldexp max min mod pow random randomseed'):gmatch('%S+') do sweep('math.' .. name) end
emit('constants ->', show(math.pi), show(math.huge), show(math.mod == math.fmod))
--- each function of coroutine with each kind of argument
for name in ('create resume running status wrap'):gmatch('%S+') do sweep('coroutine.' .. name) end
emit('coroutine.yield ->', try(coroutine.yield), try(coroutine.yield, 1))
--- each function of redis with each kind of argument
for name in ('error_reply status_reply sha1hex log setresp set_repl replicate_commands breakpoint debug acl_check_cmd'):gmatch('%S+') do sweep('redis.' .. name) end
redis.set_repl(redis.REPL_ALL)
redis.setresp(2)
--- redis.call and redis.pcall with each kind of argument
for name in ('call pcall'):gmatch('%S+') do sweep('redis.' .. name) end
for _, a in ipairs(VALUES) do emit('redis.call ECHO', a, '->', try(redis.call, 'ECHO', (value(a)))) end
--- string.sub and string.byte at each pair of borders
for _, f in ipairs({'sub', 'byte'}) do
  for _, i in ipairs({'nil', '0', '1', '2', '3', '4', '-1', '-2', '-3', '-4', '1.9', '-1.9', "'2'", '2^31', '-2^31', '2^53', '1/0', '-1/0', '0/0'}) do
    local parts = {}
    for _, j in ipairs({'nil', '0', '1', '2', '4', '-1', '-3', '-4', '1.5', '2^31', '-2^31', '2^62', '-1/0', '0/0'}) do
      parts[#parts + 1] = try(string[f], 'abc', value(i), (value(j)))
    end
    emit(f, i, '->', table.concat(parts, ' | '))
  end
end
--- string.rep, char, reverse, lower, upper, len
each [==[
string.rep("ab", 3), string.rep("ab", 0), string.rep("ab", -1), string.rep("", 100), string.rep("x", 2.9), string.rep("x", "3")
string.rep("ab"), 1
string.rep(nil, 1)
string.rep("x", {})
string.rep(5, 2)
string.char(), string.char(65), string.char(0, 255), string.char("66"), string.char(65.9)
string.char(256)
string.char(-1)
string.char(1e10)
string.char(0/0)
string.char("x")
string.char(65, 66, 300)
string.reverse(""), string.reverse("abc"), string.reverse("a\0b"), string.reverse(12)
string.lower("ABC\200\0D"), string.upper("abc\233\0d"), string.upper(1e15)
string.len(""), string.len("a\0b"), string.len(123), string.len("\n")
("x"):rep(3):upper():byte(1, -1)
("%d"):format(3.7), ("%s"):rep(2)
#"\65\066\x41"
"\a\b\f\n\r\t\v\\\"\'" == "\7\8\12\10\13\9\11\92\34\39"
"\0651"
"line\
next"
]==]
--- string.find, match, gmatch and gsub at their borders
each [==[
string.find("abc", "b"), string.find("abc", "b", 3), string.find("abc", "", 10), string.find("abc", "", 4), string.find("", ""), string.find("abc", "", -10)
string.find("abc", "b", -2), string.find("abc", "b", -1), string.find("abc", "b", 2^31), string.find("abc", "b", -2^31), string.find("abc", "b", 0/0)
string.find("a.b", ".", 1, true), string.find("a.b", "%.", 1, true), string.find("a.b", ".", 1, false), string.find("a\0b", "\0"), string.find("a\0b", "b")
string.find("a\0b", "a.b"), string.find("a\0b", "%z"), string.find("a\0b", "[%z]b"), string.find("abc", "b", nil, true), string.find("abc", "b", "2")
string.find("hello", "l+"), string.find("hello", "(l)(l)"), string.find("hello", "()ll()"), string.find("hello", "xyz"), string.find("hello", "^h"), string.find("hello", "^e")
string.find("hello", "o$"), string.find("hello$", "o$"), string.find("a$b", "a$b"), string.find("abc", "[b"), 1
string.find("abc", "%")
string.find("abc", "(")
string.find("abc", "(b")
string.find("abc", "b)")
string.find("abc", "%b")
string.find("abc", "%bx")
string.find("abc", "%f")
string.find("abc", "%fa")
string.find("abc", "%1")
string.find("abc", "(a)%2")
string.find("abc", "(a%1)")
string.find("abc", "[")
string.find("abc", "[]")
string.find("abc", "[^]")
string.find("abc", "[%")
string.find("abc", "[a-")
string.find("abc", "[a-%")
string.find("a]c", "[]]"), string.find("a^c", "[%^]"), string.find("a-c", "[a-]", 2), string.find("a-c", "[-a]", 2), string.find("b", "[a-c]"), string.find("b", "[c-a]")
string.find("THE (quick) fox", "%((%a+)%)"), string.find("f(a(b)c)d", "%b()"), string.find("THE fox", "%f[%a]%a+"), string.find("abc", "%f[%z]"), string.find("", "%f[%z]")
string.rep("a", 40):find(("a?"):rep(20) .. ("a"):rep(20))
string.match("key = value", "^(%w+)%s*=%s*(%w+)$"), string.match("abc", "()"), string.match("abc", "b()"), string.match("  x  ", "^%s*(.-)%s*$")
string.match("2024-01-02", "(%d+)-(%d+)-(%d+)"), string.match("abc", ".-"), string.match("abc", ".-$"), string.match("abc", "a*"), string.match("aaa", "a-b"), string.match("aXb", "%u")
string.match("abc", "((a)(b))"), string.match("abab", "(ab)%1"), string.match("abc", "", 2), string.match("abc", "c", -1), string.match("x", "y")
string.match(("(a)"):rep(32), ("(%(a%))"):rep(32))
string.match(("a"):rep(40), ("(a)"):rep(33))
string.gsub("hello", "l", "L"), 1
string.gsub("hello", "", "-")
string.gsub("", "", "-")
string.gsub("hello", "l", "L", 1)
string.gsub("hello", "l", "L", 0)
string.gsub("hello", "l", "L", -1)
string.gsub("hello", "l", "L", 1.9)
string.gsub("abc", "%w", "%0%0")
string.gsub("abc", "(%w)", "%1%1")
string.gsub("abc", "%w", "%1")
string.gsub("abc", "%w", "%2")
string.gsub("abc", "(a)(b)", "%2%1")
string.gsub("abc", "a", "%")
string.gsub("abc", "a", "%%")
string.gsub("abc", "a", "%a")
string.gsub("abc", "^a", "x")
string.gsub("aaa", "^a", "x")
string.gsub("abc", "c$", "x")
string.gsub("abc", "b*", "-")
string.gsub("hello world", "o", {o = "0"})
string.gsub("hello", "l", {l = false})
string.gsub("hello", "l", {l = true})
string.gsub("hello", "l", {l = {}})
string.gsub("hello", "(h)(e)", {h = 1})
string.gsub("hello", "()l", {[3] = "x", [4] = 5})
string.gsub("hello", "l", function() end)
string.gsub("hello", "l", function(c) return c:upper() end)
string.gsub("hello", "(h)(e)", function(a, b) return b .. a end)
string.gsub("hello", "l", function() return {} end)
string.gsub("hello", "l", function() return true end)
string.gsub("hello", "l", function() return 5.5 end)
string.gsub("hello", "l", function() error("inside") end)
string.gsub("hello", "l", 5)
string.gsub("hello", "l", nil)
string.gsub("hello", "l", true)
string.gsub("hello", "l")
string.gsub("abc", "b", "%0", 2^31)
string.gsub("a\0b", "%z", "0")
string.gsub("abc", "\0", "x")
string.gsub("abc", "b", "x\0y")
local r = {} for w in string.gmatch("one two  three", "%a+") do r[#r + 1] = w end return table.concat(r, ",")
local r = {} for a, b in string.gmatch("a=1, b=2", "(%w+)=(%w+)") do r[#r + 1] = a .. b end return table.concat(r, ",")
local r = {} for p in string.gmatch("abc", "()") do r[#r + 1] = p end return table.concat(r, ",")
local r = {} for w in string.gmatch("abc", "^a") do r[#r + 1] = w end return #r
local r = {} for w in string.gmatch("abc", "") do r[#r + 1] = w end return #r
string.gmatch("abc", "b")()
string.gmatch("abc")
string.gmatch("abc", "(")()
string.gmatch("abc", "x")()
string.gfind == string.gmatch
]==]
--- classes over all bytes
for class in ('%a %c %d %l %p %s %u %w %x %z %A %C %D %L %P %S %U %W %X %Z . [a-z] [^a-z] [%w_] [%a-z] [a%-z] []] [^]]'):gmatch('%S+') do
  local hits = {}
  for i = 0, 255 do hits[i + 1] = string.char(i):find('^' .. class) and '1' or '0' end
  emit(class, '->', redis.sha1hex(table.concat(hits)), select(2, table.concat(hits):gsub('1', '')))
end
local lower, upper = {}, {}
for i = 0, 255 do lower[i + 1] = string.char(i):lower() upper[i + 1] = string.char(i):upper() end
emit('cases ->', redis.sha1hex(table.concat(lower)), redis.sha1hex(table.concat(upper)))
--- string.format
for directive in ('%d %5d %-5d| %05d %+d %.3d %i %u %c %x %X %#x %08X %o %e %E %f %g %G %.0f %.3f %10.2f %-10.2f| %+.3g %.14g %.17g %#.3g %#o %.20f %5.1s| %s %10s %-10s| %.2s %.0s %q %%'):gmatch('%S+') do
  local parts = {}
  for _, v in ipairs({'0', '-0', '1', '-1', '3.7', '-3.7', '255', '1e15', '1e100', '2^31', '2^53', '-2^31', '1/0', '-1/0', '0/0', '"10"', '"abc"', '"a\\0b"', '"q\\"\\n\\r\\\\"', 'nil', 'true', '{}'}) do
    parts[#parts + 1] = try(string.format, directive, (value(v)))
  end
  emit(directive, '->', table.concat(parts, ' | '))
end
each [==[
string.format("%2^63d")
string.format("%")
string.format("%5")
string.format("%y", 1)
string.format("%100d", 1)
string.format("%99d", 1):len()
string.format("%.100f", 1)
string.format("%.99f", 1):len()
string.format("%------d", 1)
string.format("%-+ #0d", 1)
string.format("%--d", 1)
string.format("%a", 1)
string.format("%n", 1)
string.format("%*d", 1, 2)
string.format("%p", 1)
string.format("%ld", 1)
string.format("%d")
string.format("%s")
string.format("%d %s", 1)
string.format("x", 1, 2)
string.format("")
string.format()
string.format("%s %s", 1, true)
string.format("%s", setmetatable({}, {__tostring = function() return "x" end}))
string.format("%s", ("x"):rep(600)):len()
string.format("%.5s", ("x"):rep(600))
string.format("%5s", ("x"):rep(600)):len()
string.format("%q", "a\nb\\c\"d\0e\rf\200")
string.format("%c%c%c", 65, 0, 66)
string.format("%x", 2^32), string.format("%x", -1), string.format("%d", 2^62), string.format("%o", 8)
string.format("%5%")
string.format("%-5s|%5s|", "ab", "cd")
string.format("%s\0%s", "a", "b")
string.format("%.3q", "abc")
string.format("%i", "12")
]==]
--- table functions at their borders
each [==[
table.concat({}), table.concat({1, 2, 3}), table.concat({1, 2, 3}, ","), table.concat({1, 2, 3}, ",", 2), table.concat({1, 2, 3}, ",", 2, 3), table.concat({1, 2, 3}, ",", 3, 2)
table.concat({1, {}, 3})
table.concat({1, true})
table.concat({1, 2}, ",", 1, 3)
table.concat({1, 2}, ",", 0, 1)
table.concat({1, 2}, {})
table.concat({1.5, "x", 2^53}, "|")
table.concat({[1] = "a", [2] = "b", n = 5}, 1)
table.concat({}, ",", 1, 0), table.concat({}, ",", 5, 2)
local t = {} table.insert(t, "a") table.insert(t, 1, "b") table.insert(t, 3, "c") return table.concat(t)
local t = {1, 2} table.insert(t, 10, "x") return #t, t[10]
local t = {1, 2} table.insert(t, 0, "x") return t[0], t[1], t[2], t[3]
local t = {1, 2} table.insert(t, -2, "x") return t[-2], t[1], #t
local t = {1, 2} table.insert(t, 1.9, "x") return t[1], t[2]
local t = {1, 2} table.insert(t, "1", "x") return t[1]
local t = {} table.insert(t, nil) return #t
table.insert({}, 1, 2, 3)
table.insert({})
table.insert({}, nil, 1)
table.insert({}, "x", 1)
table.insert(nil, 1)
local t = {1, 2, 3} return table.remove(t), table.remove(t, 1), #t, t[1]
table.remove({})
local t = {1, 2, 3} return table.remove(t, 5), #t
local t = {1, 2, 3} return table.remove(t, 0), #t
local t = {1, 2, 3} return table.remove(t, -1), #t
local t = {[0] = "z"} return table.remove(t, 0), t[0]
local t = {1, 2, 3} return table.remove(t, 1.5), t[1]
table.remove({1}, "x")
table.remove({1}, 1, 2)
table.maxn({}), table.maxn({1, 2, nil, 4}), table.maxn({[10] = 1, [2.5] = 1, [-1] = 1}), table.maxn({[1e300] = 1}), table.maxn({x = 1})
table.getn({1, 2, 3}), table.getn({n = 7}), table.getn({})
table.setn({}, 1)
local t = {3, 1, 2} table.sort(t) return table.concat(t, ",")
local t = {"b", "a", "B", "10", "9"} table.sort(t) return table.concat(t, ",")
local t = {3, 1, 2} table.sort(t, function(a, b) return a > b end) return table.concat(t, ",")
local t = {1, "x"} table.sort(t)
local t = {{}, {}} table.sort(t)
local t = {1, 2, nil, 4} table.sort(t)
local t = {3, 2, 1} table.sort(t, function(a, b) return true end) return table.concat(t, ",")
local t = {5, 4, 3, 2, 1} table.sort(t, function(a, b) return true end)
local t = {3, 2, 1} table.sort(t, function() error("cmp") end)
local t = {3, 2, 1} table.sort(t, function() error({err = "E x"}) end)
local t = {3, 2, 1} table.sort(t, 5)
local t = {3, 2, 1} table.sort(t, nil) return t[1]
local t = {} for i = 1, 100 do t[i] = (i * 37) % 101 end table.sort(t) return t[1], t[50], t[100]
local r = "" table.foreach({5, 6, x = 7}, function(k, v) r = r .. k .. v end) return r
table.foreach({5, 6}, function(k, v) if v == 6 then return k end end)
local r = "" table.foreachi({5, 6, nil, 7}, function(k, v) r = r .. k .. v end) return r
table.foreach({1}, 5)
unpack({1, 2, 3}), 1
unpack({1, 2, 3}, 2)
unpack({1, 2, 3}, 2, 3)
unpack({1, 2, 3}, 0, 4)
unpack({1, 2, 3}, -1, 1)
unpack({}, 1, 3)
unpack({1}, 3, 1)
unpack({1, 2}, 1.9, 2.1)
unpack({1, 2}, "1", "2")
unpack({}, 1, 1e6)
unpack({}, 1, 1e8)
unpack({}, -2147483648, 2147483647)
unpack({}, 0, 2147483647)
select("#", unpack({}, -2147483648, -2147483646))
select("#", unpack({}, 1, 7000))
unpack({1, 2, nil, 4})
unpack("abc")
select(1, "a", "b"), 0
select(-1, "a", "b")
select(-2, "a", "b")
select(-3, "a", "b")
select(0, "a")
select(3, "a", "b")
select("2", "a", "b")
select(1.9, "a", "b")
select("#")
select("x")
select()
next({}), 1
next({10})
next({10}, 1)
next({10}, 2)
next({}, "x")
next({x = 1}, "x")
next({}, nil)
next({}, {})
next(nil)
rawset({}, nil, 1)
rawset({}, 0/0, 1)
rawset({}, 1)
rawget({}, nil)
rawget({5}, 1), rawget({5}, "1")
rawequal(1, 1.0), rawequal("a", "a"), rawequal({}, {}), rawequal(0, -0), rawequal(0/0, 0/0)
setmetatable({}, nil), 1
setmetatable({}, 1)
setmetatable(1, {})
setmetatable({})
setmetatable(setmetatable({}, {__metatable = 1}), {})
getmetatable(setmetatable({}, {__metatable = "locked"}))
getmetatable(setmetatable({}, {__metatable = false}))
getmetatable({}), getmetatable(1), getmetatable(nil)
getmetatable("").__index == string
getmetatable("").__metatable
tostring(setmetatable({}, {__tostring = function() return 5 end}))
tostring(setmetatable({}, {__tostring = function() return nil end}))
tostring(setmetatable({}, {__tostring = function() return {} end}))
tostring(setmetatable({}, {__tostring = 5}))
tostring(cjson.null)
tostring(nil), tostring(true), tostring("x"), tostring(1e15), tostring(-0)
tostring({}):match("^table: 0x%x+$") ~= nil
tostring(print_nothing)
type(nil), type(type), type(coroutine.create(type)), type(cjson.null)
assert(1, 2), 3
assert(nil)
assert(false, "message")
assert(false, 5)
assert(false, nil)
assert(false, {})
assert(nil, {err = "E x"})
assert()
ipairs({})({5}, 0)
ipairs({1})
pairs({}) == next
]==]
--- tonumber
for _, base in ipairs({'nil', '2', '8', '10', '16', '36'}) do
  local parts = {}
  for _, v in ipairs({'""', '"0"', '"10"', '" 10 "', '"-10"', '"+10"', '"--1"', '"1.5"', '"1e2"', '"0x10"', '"0X1F"', '"ff"', '"FF"', '"zz"', '"7"', '"8"', '"z"', '"1 2"', '"\\n5\\t"', '"0x"', '"1e"', '".5"', '"5."', '"inf"', '"nan"', '"1e400"', '"9223372036854775808"', '"99999999999999999999"', '"a\\0"', '"1\\0"', '10', '10.7', '255', '-1', 'nil', 'true', '{}'}) do
    parts[#parts + 1] = v .. ' ' .. (base == 'nil' and try(tonumber, (value(v))) or try(tonumber, value(v), (value(base))))
  end
  emit('base', base, '->', table.concat(parts, ' | '))
end
for _, base in ipairs({'1', '37', '0', '-1', '1e10', '"x"', '{}', '10.9', '"16"'}) do emit('base', base, '->', try(tonumber, '11', (value(base)))) end
--- numbers as text
for source in ('0 -0 1 -1 0.1 -0.1 1/3 2/3 100 1e2 1e5 123456 1234567 12345678901234 99999999999999 100000000000000 999999999999999 1e14 1e15 1e16 123456789012345678 2^31 2^32 2^53 2^63 2^64 1e100 1e308 1.7976931348623157e308 1e-4 1e-5 0.0001 0.00001 123.456 1e-300 5e-324 2.5 1e21 3.14159265358979 1/0 -1/0 0/0 -(0/0) 0xff 0x10p 1e+2 .5 5. 0x7fffffff 0xffffffffffffffff 0xfffffffffffffffff'):gmatch('%S+') do
  local f = loadstring('return ' .. source)
  if f then local ok, v = pcall(f) emit(source, '->', show(v), show(tostring(v)), show(v .. ''), show(('%s'):format(v)), show(redis.call('ECHO', v))) else emit(source, '-> ?') end
end
--- math at its borders
for name in ('abs acos asin atan ceil cos cosh deg exp floor frexp log log10 modf rad sin sinh sqrt tan tanh'):gmatch('%S+') do
  local parts = {}
  for _, v in ipairs({'0', '-0', '0.5', '-0.5', '1', '-1', '2.5', '-2.5', '1e15+0.5', '2^53', '1e308', '-1e308', '5e-324', '1/0', '-1/0', '0/0', '710', '"3"'}) do parts[#parts + 1] = try(math[name], (value(v))) end
  emit(name, '->', table.concat(parts, ' | '))
end
for name in ('fmod mod pow atan2 max min ldexp'):gmatch('%S+') do
  for _, a in ipairs({'0', '-0', '5', '-5', '5.5', '1e308', '1/0', '0/0'}) do
    local parts = {}
    for _, b in ipairs({'0', '-0', '3', '-3', '0.5', '1/0', '-1/0', '0/0', '1e10'}) do parts[#parts + 1] = try(math[name], value(a), (value(b))) end
    emit(name, a, '->', table.concat(parts, ' | '))
  end
end
--- math.random after a seed
for _, seed in ipairs({'0', '1', '-1', '42', '2^31', '2^32+5', '1.9', '"7"', '0/0', '1e300', 'nil', '{}'}) do
  emit('seed', seed, '->', try(math.randomseed, (value(seed))), seed:match('^[%d"-]') and show({math.random(), math.random(10), math.random(-5, 5), math.random(1, 1000000)}) or '')
end
math.randomseed(5)
each [==[
math.random(0)
math.random(1), math.random(1, 1), math.random(5, 5)
math.random(2, 1)
math.random(-10, -5)
math.random(1.9), math.random("3")
math.random(1, 2, 3)
math.random(nil)
math.random(1, nil)
math.random(2^31)
math.random(2^53)
math.random(-2^31, 2^31 - 1)
math.random(1e300)
math.random(0/0)
math.random({})
]==]
