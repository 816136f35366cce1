-- Sixteen levels, each shared a thousand times.
local t = {} for i = 1, 15 do local u = {} for j = 1, 1000 do u[j] = t end t = u end return #cmsgpack.pack(t)
