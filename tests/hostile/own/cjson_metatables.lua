-- cjson of tables with metamethods that must not run
local t = setmetatable({1, 2}, {__index = function() error('ran') end, __len = error, __tostring = error})
return {pcall(cjson.encode, t), pcall(cjson.encode, {cjson.null, cjson}), pcall(cjson.encode, _G), pcall(cjson.encode, string)}
