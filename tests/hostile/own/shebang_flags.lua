#!lua flags=no-writes,nope,,
-- a shebang line with a flag that does not exist
return 1
