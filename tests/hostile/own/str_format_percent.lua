-- string.format walks a format of megabytes that is nothing but %%
local f = ('%%'):rep(7000000)
while true do local s = string.format(f) end
