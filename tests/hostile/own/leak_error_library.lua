-- an error that is a library: the handler writes source and line into it (then: return {redis.line, redis.source})
error(redis)
