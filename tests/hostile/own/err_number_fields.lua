-- an error table with numbers and tables where texts belong
error({err = 12345678901234567890, source = {}, line = {}})
