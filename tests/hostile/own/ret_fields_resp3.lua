-- tables with every field of RESP3, inside maps and sets of their own
redis.setresp(3)
local r = {}
for _, f in ipairs({'err', 'ok', 'double', 'big_number', 'verbatim_string', 'map', 'set'}) do
  for _, v in ipairs({1.5, 'x\r\ny', false, {}, {[{}] = {}}, {string = ('s'):rep(1000), format = 'toolong'}, 0 / 0, -1 / 0, 2 ^ 63}) do r[#r + 1] = {map = {[{[f] = v}] = {[f] = v}}} r[#r + 1] = {set = {[{[f] = v}] = true}} end
end
return r
