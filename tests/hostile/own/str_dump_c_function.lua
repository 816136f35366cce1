-- string.dump of what has no code
return {pcall(string.dump, string.dump), pcall(string.dump, coroutine.wrap(function() end)), pcall(string.dump, 1), pcall(string.dump)}
