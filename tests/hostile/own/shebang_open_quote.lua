#!lua "flags=no-writes
-- a shebang line with an open quote
return 1
