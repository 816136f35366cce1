--- sources that do not compile, with their texts
for _, source in ipairs({'x', 'x =', '= x', 'x y', 'local', 'local 1', 'local x =', 'local function', 'local function x', 'function', 'function x', 'function x.y:z.w() end', 'function 1() end', 'if', 'if x', 'if x then', 'if x then else', 'if x then elseif', 'if x then end end', 'while',
  'while x', 'while x do', 'repeat', 'repeat until', 'for', 'for x', 'for x =', 'for x = 1', 'for x = 1, 2', 'for x = 1, 2 do', 'for x in', 'for x in y', 'for x, y', 'for 1', 'for x.y = 1, 2 do end', 'do', 'end', 'return return', 'return 1 x = 2', 'return 1,', 'break', 'while true do break x = 1 end',
  'function f() break end', 'x = (', 'x = (1', 'x = {', 'x = {1', 'x = {1,,2}', 'x = {[1}', 'x = {[1] 2}', 'x = [1]', 'x = "', "x = '", 'x = "a\nb"', 'x = [[', 'x = [=[ ]]', 'x = [=', '--[[', '--[==[ ]=]', 'x = "\\400"', 'x = "\\', 'x = 1e', 'x = 0x', 'x = 0xg', 'x = 1.2.3', 'x = 1..2', 'x = 3x', 'x = 1e+', 'x = .', 'x = ..',
  'x = ...', 'function f() return ... end', 'return function(...) return function() return ... end end', 'x = a.', 'x = a.1', 'x = a:', 'x = a:b', 'x = a[', 'x = a[1', 'f(', 'f(1', 'f(1,', 'f\n(1)', 'f{', 'f"', 'a.b', 'a.b.c', 'a:b()', 'a:b() = 1', 'f() = 1', '(a) = 1', '(a)', '"x" = 1', '"x":f()', '("x"):f()', '1 = 1', 'nil = 1', 'x, y', 'x, 1 = 2', 'x, f() = 1',
  'a = b = c', 'a + 1', 'not x', '#x', '-x', 'x = 1 + ', 'x = * 1', 'x = not', 'x = #', 'x = 1 = 2', 'x = a and', 'x = a or or b', 'x = a ~ b', 'x = a ! b', 'x = @', 'x = $', 'x = `', 'x = \\', 'x = a ? b', 'goto x', '::x::', 'local x <const> = 1', 'x = a // b', 'x = a & b', 'x += 1', 'x++', 'local function f(a, ) end', 'local function f(..., a) end',
  'local function f(1) end', 'function f(a a) end', 'x = function', 'x = function(', 'x = function() ', 'x = {f = function() end', 'and', 'x = and', 'local end = 1', 'x.end = 1', 'x = y.end', '\0', 'x = 1\0', 'x = "a\0b"', '\239\187\191x = 1', 'x = \233', '#!x', '# x', ';', ';;', 'x = 1;', 'x = 1;;', 'do ; end', 'return;', 'return 1;', 'return;;',
  '\n\n\nx y', 'x = {\n\n', 'if x then\n\nfor', 'f(\n\n', '(\n\nf', 'x = "\\\n', 'x = [[\n\n', '--', '-- x', '--[[ x ]] y', '\27Lua', string.rep('x', 100) .. ' y', 'x = "' .. string.rep('y', 100), 'x = ' .. string.rep('1', 210), 'x = ' .. string.rep('1', 100) .. 'z'}) do
  emit(show(source), '->', show({loadstring(source)}), show((select(2, loadstring(source, '=chunk')))))
end
--- names of chunks
for _, name in ipairs({"'@file.lua'", "'=name'", "''", "'='", "'@'", "'return 1'", "'two\\nlines'", "'\\nfirst'", "string.rep('x', 44)", "string.rep('x', 45)", "string.rep('x', 46)", "string.rep('x', 59)", "string.rep('x', 100)", "'@' .. string.rep('f', 58)", "'@' .. string.rep('f', 59)", "'@' .. string.rep('f', 60)", "'@' .. string.rep('f', 100)", "'=' .. string.rep('n', 58)", "'=' .. string.rep('n', 59)", "'=' .. string.rep('n', 100)", "'a\\0b'", "'@a\\0b'", '5', "'x\\r\\ny'"}) do
  emit(name, '->', show((select(2, loadstring('x y', (value(name)))))), try(loadstring('error("run")', (value(name)))))
end
for _, source in ipairs({'error("a")', 'error("a")\nx()', '\nerror("a")', string.rep(' ', 60) .. 'error("a")', 'local longer_name_of_a_variable = 1 error("a") -- and a comment that goes on'}) do emit(show(source), '->', try(loadstring(source))) end
--- load with readers
local function reader(...) local pieces, i = {...}, 0 return function() i = i + 1 return pieces[i] end end
emit('pieces ->', show({load(reader('return ', '1', ' + 2'))()}), try(load(reader('return ...'), 5)), show({load(reader('ret', 'urn "a', 'b"'))()}))
emit('end ->', show({load(reader())()}), show({load(reader('return 1', '', 'x y'))()}), show({load(reader('return 1', nil, 'x y'))()}))
emit('number ->', show({load(reader('return ', 12, 3))()}))
emit('bad ->', show({load(reader(true))}), show({load(reader('return 1', {}))}), show({load(function() error('reader') end)}), show({load(function() error({err = 'E'}) end)}))
emit('names ->', show({load(reader('x y'))}), show({load(reader('x y'), 'name')}), show({load(reader('x y'), '=name')}), show({load(reader('x y'), '@name')}))
emit('binary ->', show({load(reader(string.dump(function() return 1 end)))}):sub(1, 200), show({loadstring(string.dump(function() return 1 end))}):sub(1, 200), show({loadstring('\27Lua', '=b')}))
emit('environment ->', try(loadstring('return KEYS, nosuch')), try(loadstring('x = 1')), try(loadstring('local x = 1 return x')))
emit('arguments ->', try(loadstring('return ...'), 1, nil, 3), try(loadstring('return select("#", ...)')))
emit('kinds ->', try(load), try(load, 1), try(load, 'return 1'), try(load, nil, 'x'), try(loadstring), try(loadstring, 1), try(loadstring, nil), try(loadstring, 'x', {}), try(loadstring, 5, '=n'))
--- nested brackets
each [==[
return [[a [[ b]]
return [[a ] b]]
return [=[a ]] b]=]
return [[

first line is dropped]]
return [[a]]]
--[[ [[ ]] return 1
return [[x[[y]] .. [[z[[w]]
]==]
--- lexical forms
for _, code in ipairs({"return 'a\\\nb'", 'return "a\\\r\nb"', 'return [[\r\nx]]', 'return [[\n\rx]]', 'return "\\65\\066\\0067"', "return '\\x41'", "return '\\u{41}'", "return '\\q'", 'return "\\""', 'return 0x10, 0XfF, 0xA.8', 'return 1e2, 1E2, 1e+2, 1e-2, .5, 5.', 'return 3-2, 3--2\n', 'return 10 --comment', 'return--[[x]]1', 'return"x"', "return'x'", 'return[[x]]', 'return{}', 'return(1)',
  'return a.b', 'local a={b={c=1}}return a.b.c', 'local _x1=1 return _x1', 'return 1 --[==[ ]] ]=] ]==] + 1', 'return "tab\\tend"', 'local a <x', 'return 0xffffffffffffffffff', 'return 1e309', 'return 123456789012345678901234567890', 'return 0x1p4', 'return 08', 'return 1_000', 'return "\\0"', 'return "\\00065"', 'return "\\256"', 'return \'"\'', 'return "é"', 'return ("x")', 'return nil, true, false', 'return 5 // 2', 'return 5 ~= 6, 5 != 6'}) do
  local f, message = loadstring(code, '=chunk')
  emit(show(code), '->', f and try(f) or '? ' .. message)
end
