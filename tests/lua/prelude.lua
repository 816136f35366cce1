local out = {}
-- A value without addresses; tables to a small depth, in the order of `next`.
local function show(v, depth)
  local kind = type(v)
  depth = depth or 0
  if kind == 'table' then
    if depth > 2 then return 'T' end
    local parts = {}
    for k, x in next, v do parts[#parts + 1] = show(k, 3) .. '=' .. show(x, depth + 1) end
    return '{' .. table.concat(parts, ',') .. '}'
  elseif kind == 'number' then return string.format('%.17g', v)
  elseif kind == 'string' then return '"' .. v:gsub('0x%x%x%x%x%x%x+', 'ADDRESS') .. '"'
  elseif kind == 'nil' or kind == 'boolean' then return tostring(v) end
  return kind
end
local function list(...)
  local parts = {}
  for i = 1, select('#', ...) do parts[i] = show((select(i, ...)), 0) end
  return table.concat(parts, ' ')
end
-- What a call gives, or `! ` and its error.
local function try(f, ...)
  local function outcome(ok, ...) return ok and list(...) or '! ' .. list(...) end
  return outcome(pcall(f, ...))
end
local function emit(...) out[#out + 1] = table.concat({...}, ' ') end
-- A fresh value from its source text.
local function value(source) return loadstring('return ' .. source, '=value')() end
-- What each source gives when it runs as a chunk.
local function each(sources)
  for line in sources:gmatch('[^\n]+') do
    line = line:match('^%s*(.-)%s*$')
    if line ~= '' then
      local f, message = loadstring(line:match('^return') and line or 'return ' .. line, '=chunk')
      if not f then f, message = loadstring(line, '=chunk') end
      emit(line, '->', f and try(f) or '? ' .. message)
    end
  end
end
local VALUES = {'nil', 'true', 'false', '0', '-1', '3', '1.5', '2^53', '1/0', '0/0', "''", "'10'", "'abc'", "'0x10'", "' 5 '", '{}', '{1,2,3}', 'function() end', 'coroutine.create(function() end)', 'cjson.null'}
local FEW = {'nil', 'true', '0', '-1', '2', '1.5', "''", "'10'", "'abc'", '{1,2,3}', 'function() end', 'cjson.null'}
-- Calls a function with no argument, one of each value, and each pair.
local function sweep(name)
  local f = loadstring('return ' .. name)()
  math.randomseed(1)
  emit(name, '->', try(f))
  for _, a in ipairs(VALUES) do emit(name, a, '->', try(f, (value(a)))) end
  for _, a in ipairs(FEW) do
    local parts = {}
    for _, b in ipairs(FEW) do parts[#parts + 1] = try(f, value(a), (value(b))) end
    emit(name, a, 'and each ->', table.concat(parts, ' | '))
  end
end
