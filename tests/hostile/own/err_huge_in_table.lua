-- an error table with a text of megabytes
error({err = ('X'):rep(10000000)})
