#!lua2 flags=
-- a shebang line of another engine
return 1
