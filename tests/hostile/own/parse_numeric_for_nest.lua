-- loops one after the other with all the registers
return loadstring(('for i=1,1 do local a,b,c,d,e,f,g,h,i,j end '):rep(20000)) ~= nil
