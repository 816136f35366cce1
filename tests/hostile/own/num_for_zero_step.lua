-- a loop with a step of zero
for i = 1, 10, 0 do end
