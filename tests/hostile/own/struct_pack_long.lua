-- struct.pack of padding in megabytes
return {pcall(struct.pack, ('x'):rep(1000000)), pcall(struct.pack, 'c16000000', ('a'):rep(16000000)), pcall(struct.pack, ('s'):rep(100), unpack({('a'):rep(1000000)}, 1, 100))}
