-- More results than the stack takes.
pcall(struct.unpack, string.rep('b', 10000), string.rep('x', 10000)) return select('#', pcall(struct.unpack, string.rep('b', 7998) .. '!3', string.rep('x', 8000)))
