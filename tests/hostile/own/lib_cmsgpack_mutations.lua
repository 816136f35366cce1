-- Each byte of a packed value changed to each of thirty-two others, and each cut.
local s = cmsgpack.pack({1, {a = 'b', [2.5] = {{}}}, 'text', -1, 1e300}, true) for i = 1, #s do for b = 0, 255, 8 do pcall(cmsgpack.unpack, s:sub(1, i - 1) .. string.char(b) .. s:sub(i + 1)) end pcall(cmsgpack.unpack, s:sub(1, i)) end return 1
