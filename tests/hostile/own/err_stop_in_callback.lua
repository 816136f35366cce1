-- the end of the budget inside a callback of sort inside a callback of gsub
while true do pcall(string.gsub, 'abc', '.', function() pcall(table.sort, {3, 2, 1}, function() while true do end end) end) end
