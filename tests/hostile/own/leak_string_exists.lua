-- whether a string exists, as an argument of somebody before: making it again takes no memory
local guesses = {}
for i = 1, 100 do
  local parts = {'token-', i, '-of-somebody'}
  local before = collectgarbage('count')
  local guess = table.concat(parts)
  guesses[i] = (collectgarbage('count') - before) * 1024
end
return guesses
