-- CVE-2024-31449: the number of digits, negated, does not fit.
return {bit.tohex(65535, -2147483648), bit.tohex(65535, 2147483648), bit.tohex(1, 0/0), bit.tohex(1, -1/0)}
