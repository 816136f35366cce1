-- struct.unpack of more values than the stack takes
return {pcall(struct.unpack, ('b'):rep(100000), ('x'):rep(100000)), pcall(struct.unpack, ('b'):rep(7000), ('x'):rep(7000)) and 1}
