-- __mode that is no mode
local r = {}
for _, m in ipairs({'', 'kvkvkv', 'x', 1, {}, true, ('k'):rep(1000000)}) do
  local t = setmetatable({{}, {}}, {__mode = m}) collectgarbage() r[#r + 1] = #t
end
return r
