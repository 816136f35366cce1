-- ARGV and KEYS filled and emptied: their dead keys stay (then: return {pcall(next, ARGV, 'k150')}, or the order of pairs)
for _, list in ipairs({KEYS, ARGV}) do
  for i = 1, 200 do list['k' .. i] = 1 list[i + 10] = 1 end
  for i = 1, 200 do list['k' .. i] = nil list[i + 10] = nil end
end
return {#KEYS, #ARGV}
