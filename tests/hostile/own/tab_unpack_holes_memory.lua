-- unpack, select and table constructors with as many nils as the stack takes, while there is hardly memory
local keep = {} for i = 1, 60 do local ok, s = pcall(string.rep, string.char(i), 1000000) if not ok then break end keep[i] = s end
local n = 0
for i = 1, 300 do
  if not pcall(function() local t = {unpack({}, 1, 7900)} keep[#keep + 1] = t return select('#', unpack(t, 1, 7900)) end) then n = n + 1 end
end
return n
