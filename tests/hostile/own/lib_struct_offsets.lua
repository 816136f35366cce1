-- CVE-2018-11219: places and sizes beyond the data.
for _, p in ipairs({0, -1, -2, -8, 2147483647, 2147483648, 4294967296, 2^53, 2^63, -2^63, 0/0, 1/0}) do for _, f in ipairs({'', 'I4', 's', 'c0', 'bc0', '!8l', '>', 'x', 'c2147483647'}) do pcall(struct.unpack, f, 'abcd', p) end end return 1
