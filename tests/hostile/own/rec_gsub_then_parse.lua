-- the deepest source that is parsed, from as deep in gsub as leaves room for it
local deep, r = 0
function r()
  deep = deep + 1
  if deep == 150 then return tostring(loadstring('return ' .. ('(function() return '):rep(48) .. '1' .. (' end)()'):rep(48))) end
  return (('x'):gsub('(x)', r))
end
return {tostring(pcall(r)), deep}
