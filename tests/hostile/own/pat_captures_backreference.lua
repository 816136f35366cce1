-- a back reference to a long capture at each place
return string.find(('a'):rep(20000), '(a*)%1%1%1b')
