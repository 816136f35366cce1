-- Levels up to what Lua's stack takes, and beyond.
for _, u in ipairs({'\145', '\129', '\129\1', '\145\129\1'}) do for _, n in ipairs({3990, 3999, 4000, 7990, 7999, 8000, 100000}) do pcall(cmsgpack.unpack, string.rep(u, n)) pcall(cmsgpack.unpack, string.rep(u, n) .. '\192') end end return 1
