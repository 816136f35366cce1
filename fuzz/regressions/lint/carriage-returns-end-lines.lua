--!xra= r+n1--!xra= r+n1oor
