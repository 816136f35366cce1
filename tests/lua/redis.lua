--- replies of commands as values, in both versions of the protocol
local commands = {
  {'SET', 's', 'v'}, {'GET', 's'}, {'GET', 'none'}, {'INCR', 'n'}, {'STRLEN', 's'}, {'MGET', 's', 'none'}, {'RPUSH', 'l', 'a', 'b'}, {'LRANGE', 'l', 0, -1}, {'LPOP', 'none'}, {'LPOP', 'none', 1}, {'HSET', 'h', 'f', 'v'}, {'HGETALL', 'h'}, {'HGETALL', 'none'},
  {'HMGET', 'h', 'f', 'g'}, {'SADD', 'e', 1}, {'SMEMBERS', 'e'}, {'SMEMBERS', 'none'}, {'ZADD', 'z', 1.5, 'm'}, {'ZSCORE', 'z', 'm'}, {'ZSCORE', 'z', 'none'}, {'ZRANGE', 'z', 0, -1}, {'ZRANGE', 'z', 0, -1, 'WITHSCORES'}, {'ZMSCORE', 'z', 'm', 'none'}, {'ZADD', 'z', 'INCR', 1, 'm'}, {'ZADD', 'z', 'NX', 'INCR', 1, 'm'},
  {'ZPOPMIN', 'none'}, {'ZPOPMIN', 'z'}, {'TYPE', 's'}, {'PING'}, {'PING', 'x'}, {'EXISTS', 's'}, {'TTL', 's'}, {'INCRBYFLOAT', 'n', '0.5'}, {'LCS', 's', 's', 'IDX'}, {'XADD', 'x', '1-1', 'f', 'v'}, {'XRANGE', 'x', '-', '+'}, {'XRANGE', 'none', '-', '+'}, {'OBJECT', 'ENCODING', 's'}, {'OBJECT', 'ENCODING', 'none'},
  {'SET', 's', 'w', 'NX'}, {'SET', 's', 'w', 'GET'}, {'SET', 'fresh', 'w', 'GET'}, {'CONFIG', 'GET', 'databases'}, {'HRANDFIELD', 'h', 1, 'WITHVALUES'}, {'HRANDFIELD', 'none'}, {'SINTERCARD', 1, 'e'}, {'GEOPOS', 'none', 'a'}, {'COMMAND', 'COUNT', 'x'}, {'nosuch'}, {'GET'}, {'LPUSH', 's', 'x'}, {'SETNX', 's', 'x'}, {'GETDEL', 's'},
}
for version = 2, 3 do
  redis.call('FLUSHALL')
  redis.setresp(version)
  for _, c in ipairs(commands) do
    local shown = {} for i, w in ipairs(c) do shown[i] = tostring(w) end
    emit(version, table.concat(shown, ' '), '->', try(redis.pcall, unpack(c)))
  end
end
redis.setresp(2)
redis.call('FLUSHALL')
--- what a script may not call
for name in ('MULTI EXEC DISCARD WATCH UNWATCH EVAL EVALSHA EVAL_RO EVALSHA_RO FCALL SCRIPT SUBSCRIBE UNSUBSCRIBE PSUBSCRIBE PUNSUBSCRIBE SSUBSCRIBE CLIENT HELLO AUTH QUIT RESET MONITOR SYNC PSYNC REPLCONF SHUTDOWN SAVE BGSAVE BGREWRITEAOF DEBUG CONFIG ACL WAIT MIGRATE RESTORE MODULE FUNCTION CLUSTER FAILOVER REPLICAOF SLAVEOF LATENCY SLOWLOG MEMORY READONLY READWRITE ASKING'):gmatch('%S+') do
  emit(name, '->', (try(redis.call, name)))
end
each [==[
redis.call("MULTI")
redis.call("WATCH", "k")
redis.call("EVAL", "return 1", 0)
redis.call("EVALSHA", "abc", 0)
redis.call("SCRIPT", "FLUSH")
redis.call("SCRIPT", "LOAD", "return 1")
redis.call("SCRIPT", "EXISTS", "x")
redis.call("SUBSCRIBE", "c")
redis.call("CLIENT", "ID")
redis.call("CLIENT", "SETNAME", "x")
redis.call("HELLO", 3)
redis.call("AUTH", "x")
redis.call("BLPOP", "l", 0)
redis.call("BRPOP", "l", 1)
redis.call("BLMOVE", "a", "b", "LEFT", "RIGHT", 0)
redis.call("BZPOPMIN", "z", 0)
redis.call("XREAD", "BLOCK", 0, "STREAMS", "x", "$")
redis.call("WAIT", 0, 0)
redis.call("MONITOR")
redis.call("RESET")
redis.call("CONFIG", "SET", "maxmemory", "0")
redis.call("FUNCTION", "FLUSH")
redis.call("PUBLISH", "c", "m")
redis.call("SELECT", 1), redis.call("SELECT", 0)
redis.call("SELECT", 100)
redis.call("DBSIZE")
redis.call("get", "x"), redis.call("gEt", "x")
redis.call("GET", "x", "y")
redis.call("OBJECT"), 1
redis.call("OBJECT", "nosuch")
redis.call("OBJECT", "HELP")[1]
redis.call(""), 1
redis.call("GET\0", "x")
redis.call("GET", 1.5), redis.call("GET", 2^53), redis.call("GET", 1e100), redis.call("GET", -0)
redis.call("SET", "k", 1e15), redis.call("GET", "k"), redis.call("SET", "k", 0.1), redis.call("GET", "k")
redis.call("SET", "k", 1/0), redis.call("GET", "k"), redis.call("SET", "k", 2^63), redis.call("GET", "k"), redis.call("SET", "k", -2^63), redis.call("GET", "k")
redis.call("SET", "k", 3.0), redis.call("GET", "k"), redis.call("SET", "k", 123456789012345678), redis.call("GET", "k")
]==]
--- error_reply and status_reply
for _, text in ipairs({'', 'word', 'two words', '-word', '-two words', '--x y', 'a\r\nb', '\r\n', 'x\n', 'with\0nul', ' lead', 'ERR', '-', 'ERR x', '-ERR x', 'tail ', '- x'}) do
  emit(show(text), '->', show(redis.error_reply(text)), show(redis.status_reply(text)))
end
--- sha1hex
emit('->', redis.sha1hex(''), redis.sha1hex('abc'), redis.sha1hex('a\0b'), redis.sha1hex(123), redis.sha1hex(1.5), redis.sha1hex(string.rep('x', 1000)))
--- acl_check_cmd
each [==[
redis.acl_check_cmd("GET", "k")
redis.acl_check_cmd("get", "k")
redis.acl_check_cmd("GET")
redis.acl_check_cmd("SET", "k")
redis.acl_check_cmd("nosuch", "k")
redis.acl_check_cmd("")
redis.acl_check_cmd("OBJECT")
redis.acl_check_cmd("OBJECT", "ENCODING", "k")
redis.acl_check_cmd("OBJECT", "nosuch")
redis.acl_check_cmd("GET", 1)
redis.acl_check_cmd("GET", {})
redis.acl_check_cmd({})
redis.acl_check_cmd(nil)
redis.acl_check_cmd()
redis.acl_check_cmd(5)
redis.acl_check_cmd("MULTI")
redis.acl_check_cmd("EVAL", "x")
redis.acl_check_cmd("EVAL", "x", "1", "k")
redis.acl_check_cmd("SCRIPT", "FLUSH")
redis.acl_check_cmd("CONFIG", "SET", "a", "b")
redis.acl_check_cmd("CONFIG|SET")
redis.acl_check_cmd("SELECT", "100")
redis.acl_check_cmd("MSET", "a")
redis.acl_check_cmd("DEL")
redis.acl_check_cmd("SUBSCRIBE", "c")
redis.acl_check_cmd("FLUSHALL")
]==]
--- log, setresp, set_repl and the rest
each [==[
redis.log(redis.LOG_DEBUG, "x"), redis.log(redis.LOG_WARNING, "x", "y", 5)
redis.log(0, nil)
redis.log(0, {})
redis.log(0, true, "x")
redis.log("0", "x")
redis.log(1.9, "x")
redis.log(-1, "x")
redis.log(4, "x")
redis.log(nil, "x")
redis.log(0)
redis.setresp(2), redis.setresp("3"), redis.setresp(2)
redis.setresp(2.9)
redis.setresp(1)
redis.setresp("x")
redis.setresp(nil)
redis.setresp({})
redis.setresp(2, 3)
redis.set_repl(redis.REPL_ALL), redis.set_repl(redis.REPL_NONE), redis.set_repl(redis.REPL_AOF), redis.set_repl(redis.REPL_REPLICA), redis.set_repl(redis.REPL_SLAVE)
redis.set_repl(3)
redis.set_repl(4)
redis.set_repl(-1)
redis.set_repl("3")
redis.set_repl("x")
redis.set_repl()
redis.set_repl(1, 2)
redis.replicate_commands(), redis.replicate_commands(1)
redis.breakpoint(), redis.debug(), redis.debug("x", 1, {})
redis.REDIS_VERSION, redis.REDIS_VERSION_NUM
]==]
--- the server's error handler
each [==[
__redis__err__handler("text").err
__redis__err__handler({err = "E x"}).err
type(__redis__err__handler({err = "E x"}).line)
__redis__err__handler(nil).err
__redis__err__handler(5).err
__redis__err__handler(true).err
__redis__err__handler().err
__redis__err__handler(redis)
__redis__err__handler(_G)
__redis__err__handler(string)
__redis__err__handler(KEYS).line
__redis__err__handler(setmetatable({}, {__newindex = function(t, k, v) error('not ' .. k, 0) end}))
__redis__err__handler(setmetatable({}, {__newindex = function(t, k, v) rawset(t, k .. '2', type(v)) end}))
__redis__err__handler(setmetatable({}, {__newindex = redis}))
__redis__err__handler(setmetatable({}, {__newindex = 5}))
__redis__err__handler(setmetatable({}, {__newindex = setmetatable({}, {__newindex = function(t, k, v) rawset(t, k, 1) end})}))
pcall(error, redis)
pcall(error, setmetatable({err = 'E'}, {__newindex = function(t, k, v) error('not ' .. k, 0) end}))
pcall(error, setmetatable({err = 'E'}, {__newindex = function(t, k, v) error({}, 0) end}))
xpcall(function() error(redis) end, __redis__err__handler)
xpcall(function() error(setmetatable({}, {__newindex = function() error('x') end})) end, __redis__err__handler)
]==]
