-- cjson.decode of texts cut and changed at every byte
local s, n = '{"a":[1,2.5e3,"x\\u00e9\\ud83d\\ude00",true,null],"b":{"c":-0}}', 0
for i = 1, #s do if pcall(cjson.decode, s:sub(1, i)) then n = n + 1 end for _, c in ipairs({'\0', '"', '\\', '{', ']', '\255', 'e'}) do if pcall(cjson.decode, s:sub(1, i - 1) .. c .. s:sub(i + 1)) then n = n + 1 end end end
return n > 0
