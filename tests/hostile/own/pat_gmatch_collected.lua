-- an iterator of gmatch whose text nobody else holds, with the collector between its steps
local it = (('ab'):rep(1000)):gmatch('()')
collectgarbage()
local n = 0
for p in it do n = n + p if n % 7 == 0 then collectgarbage('step') end it() end
return n
