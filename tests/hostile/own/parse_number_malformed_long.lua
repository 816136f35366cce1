-- a malformed number of a million digits, shown in the message
return #tostring(select(2, loadstring('return ' .. ('1e'):rep(400000))))
