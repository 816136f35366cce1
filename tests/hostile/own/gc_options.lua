-- every option of collectgarbage and what is none
local r = {}
for _, o in ipairs({'stop', 'restart', 'collect', 'count', 'step', 'setpause', 'setstepmul', 'isrunning', 'generational', '', 'COLLECT', 'stop\0x', 1, {}, true}) do
  for _, a in ipairs({0, -1, 2 ^ 31 - 1, -2 ^ 31, 1e308, 'x'}) do r[#r + 1] = type(select(2, pcall(collectgarbage, o, a))) end
end
return r
