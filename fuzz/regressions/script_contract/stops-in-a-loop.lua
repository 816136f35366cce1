--!contract c
--!key k any rw
--!error arity "ERR no"
--!reply any

while true do redis.call("APPEND", KEYS[1], "x") end
