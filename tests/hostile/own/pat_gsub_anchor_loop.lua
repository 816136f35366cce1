-- an anchored gsub and a gsub of anchors inside, in a loop that does not end
while true do (('x'):rep(100000)):gsub('^x', ''); (('x'):rep(1000)):gsub('x$', '') end
