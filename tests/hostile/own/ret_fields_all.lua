-- tables with every field that means something, with every kind of value
local r = {}
for _, f in ipairs({'err', 'ok', 'double', 'big_number', 'verbatim_string', 'map', 'set', 'format', 'string'}) do
  for _, v in ipairs({1, 'x', true, {}, {1}, {string = 'a\r\nb', format = 'tx\r\n'}, '\r\n+X\r\n', 0 / 0, 1 / 0}) do r[#r + 1] = {[f] = v} end
end
return r
