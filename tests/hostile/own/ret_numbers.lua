-- numbers that no integer holds are returned
return {0 / 0, 1 / 0, -1 / 0, 2 ^ 63, -2 ^ 63, 2 ^ 64, 1e308, -1e308, 5e-324, -0, 0.999999, -0.999999, 2 ^ 53 + 1}
