-- string.format with every letter, width and precision, on every kind of value
local n = 0
for c = 0, 255 do
  for _, w in ipairs({'', '1', '99', '100', '-5', '+', ' ', '#', '0', '.', '.0', '.99', '.100', '99.99', '-+ #0', '-+ #0#'}) do
    for _, v in ipairs({1.5, 'x', true, {}}) do
      if pcall(string.format, '%' .. w .. string.char(c), v) then n = n + 1 end
    end
  end
end
return n
