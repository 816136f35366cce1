-- coroutines that end in errors, in pcall, without end
while true do pcall(coroutine.wrap(function() error({}) end)) end
