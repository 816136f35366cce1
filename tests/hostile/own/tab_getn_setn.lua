-- the old functions of lengths
return {pcall(table.getn, {1, 2}), pcall(table.setn, {}, 5), pcall(table.getn, 'x'), pcall(table.getn), pcall(table.setn)}
