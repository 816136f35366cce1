-- what is left of a debugger
return {pcall(redis.breakpoint), pcall(redis.breakpoint, 1, 2), pcall(redis.debug, {}, {}), pcall(redis.debug), pcall(redis.replicate_commands)}
