-- a string as the base of everything
return {pcall(loadstring('return ("x"):rep(3):upper():lower():len()')), loadstring('return "x":rep(3)'), loadstring('"x"()'), loadstring('return #"x" .. -"1"')}
