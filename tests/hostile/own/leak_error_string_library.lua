-- an error that is the library of strings (then: return ('x').line, what every string has from now on)
error(string)
