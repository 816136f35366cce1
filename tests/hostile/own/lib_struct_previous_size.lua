-- Sizes taken from the data itself: not numbers, below zero, beyond all memory.
for _, n in ipairs({0/0, 1/0, -1, 2^31, 2^63, 2^64, -2^63, 1e300}) do pcall(struct.unpack, 'dc0', struct.pack('d', n) .. 'abc') end return pcall(struct.unpack, 'sc0', '3\0abc')
