-- Counts and lengths of 2^32-1 with nothing behind them.
for _, m in ipairs({'\219', '\221', '\223', '\218', '\220', '\222', '\217', '\198', '\201'}) do pcall(cmsgpack.unpack, m .. '\255\255\255\255Z') pcall(cmsgpack.unpack, m .. '\255\255\255\255' .. string.rep('\144', 100000)) end return 1
