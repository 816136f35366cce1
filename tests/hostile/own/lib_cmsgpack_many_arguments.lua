-- CVE-2018-11218: more arguments than the stack takes twice.
local t = {} for i = 1, 7900 do t[i] = i end pcall(cmsgpack.pack, unpack(t)) for n = 3980, 4000 do t = {} for i = 1, n do t[i] = {{{a = {}}}} end pcall(cmsgpack.pack, unpack(t)) end return 1
