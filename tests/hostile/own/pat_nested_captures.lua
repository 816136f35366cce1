-- captures inside captures with repetition around: as many ways as there are
return string.find(('a'):rep(40), '(a*(a*(a*(a*(a*(a*(a*b)))))))')
