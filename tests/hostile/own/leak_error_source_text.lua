-- a text for others, as the name of the code in which a library was raised (then: local t = {} t.x = redis.source return t.x)
loadstring('error(redis)', '=a message to whoever comes next')()
