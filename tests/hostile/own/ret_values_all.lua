-- values of every kind are returned, several at once
return {nil, 1, (1 == 1), function() end, coroutine.create(function() end), string.rep, false, nil, 'x'}
