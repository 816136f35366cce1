--!contract a
--!error arity "x"
--!reply any
-- areturn 1