-- iterators of gmatch that are made and never used
while true do (('x'):rep(1000)):gmatch('(x*)(x*)(x*)') end
