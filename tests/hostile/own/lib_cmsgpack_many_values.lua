-- CVE-2018-11218: more values than the stack takes.
pcall(cmsgpack.unpack, string.rep('\1', 10000)) return select('#', pcall(cmsgpack.unpack_limit, string.rep('\147\1\2\3', 10000), 9000))
