-- a library raised out of coroutines, sort and gsub
local function raise() error(math) end
pcall(table.sort, {2, 1}, raise) pcall(string.gsub, 'x', 'x', raise) coroutine.resume(coroutine.create(raise))
xpcall(raise, __redis__err__handler)
return coroutine.wrap(raise)()
