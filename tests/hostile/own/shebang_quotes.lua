#!lua "flags=no-writes" 'flags=allow-oom' "\x66lags="
-- a shebang line in quotes
return 1
