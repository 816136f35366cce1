-- a generic loop over a string that is called
return pcall(function() for c in 'abc' do end end)
