#!lua flags=no-writes,allow-oom,allow-stale,no-cluster,allow-cross-slot-keys
-- a shebang line with every flag, and a write against it
return redis.pcall('SET', 'k', 'v')
