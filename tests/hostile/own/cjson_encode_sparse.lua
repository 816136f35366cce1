-- cjson.encode of an array with a hole of millions
return {pcall(cjson.encode, {[1] = 1, [2 ^ 30] = 2}), pcall(cjson.encode, {[2 ^ 53] = 1}), pcall(cjson.encode, {[0.5] = 1}), pcall(cjson.encode, {[-1] = 1}), pcall(cjson.encode, {[{}] = 1}), pcall(cjson.encode, {[true] = 1})}
