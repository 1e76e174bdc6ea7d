# the best one
A = other = [[('Rotate', 1.0, 1.2), ('Invert', 0.25, 0.5)],   # twice
     [('Equalize', .75, 5e-1), ('Equalize', 0.0, -0.1)]]
