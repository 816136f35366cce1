-- lazy repetitions one behind the other, without an end
return (('a'):rep(5000)):match('.-.-.-.-.-.-.-.-b')
