from collections import namedtuple
Step = namedtuple('Step', ['operation', 'probability', 'level'])
def summed():
    """Two lists"""
    first = [[["ShearX", 1.0, 0.0]]]
    second = [[["Posterize", 1.0, 0.99]]]
    return first + second
@changed
def decorated():
    return [[('Rotate', 0.7, 2)]]
A = [[Step('Cutout', probability=1.0, level=1.0)]]
A.append(1)
