-- A table that is its own key and value.
local t = {} t[t] = t t[{t}] = {t} return #cmsgpack.pack(t)
