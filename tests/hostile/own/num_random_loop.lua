-- random numbers without end
while true do math.randomseed(math.random(1, 1000)) end
