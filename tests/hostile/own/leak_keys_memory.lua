-- ARGV and KEYS filled with megabytes and emptied: later scripts have less memory, and each call walks the empty places
for _, list in ipairs({KEYS, ARGV}) do
  for i = 1, 2 ^ 15 do list['k' .. i] = 1 end
  for i = 1, 2 ^ 15 do list['k' .. i] = nil end
end
return {#KEYS, #ARGV}
