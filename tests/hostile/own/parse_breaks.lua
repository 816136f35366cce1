-- breaks in great number in one loop
return loadstring('while true do ' .. ('do break end '):rep(75000) .. 'end')
