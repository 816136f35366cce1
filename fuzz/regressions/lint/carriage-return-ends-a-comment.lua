-- xreturn 1
