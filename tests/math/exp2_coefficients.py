# SPDX-License-Identifier: Apache-2.0
"""Derives the coefficients of math/exp2_polynomial.hpp that no publication gives. Needs mpmath.

Minimises the largest relative error of 1 + c1·f + … + cn·f^n against 2^f on [0, 1] by the exchange of E. Remez (1934): the
error is made equal in size and alternating in sign at n + 1 points, which then move to its extrema.
"""
import struct

from mpmath import cos, diff, findroot, lu_solve, matrix, mp, mpf, pi

mp.prec = 200


def minimax(n):
    points = [(1 - cos(pi * (2 * i + 1) / (2 * n + 2))) / 2 for i in range(n)] + [mpf(1)]
    while True:
        system = matrix(n + 1, n + 1)
        right = matrix(n + 1, 1)
        for i, x in enumerate(points):
            weight = 2 ** (-x)
            for k in range(n):
                system[i, k] = x ** (k + 1) * weight
            system[i, n] = (-1) ** i
            right[i] = 1 - weight
        solution = lu_solve(system, right)
        c, size = [solution[k] for k in range(n)], abs(solution[n])

        def error(x):
            return (1 + sum(c[k] * x ** (k + 1) for k in range(n))) * 2 ** (-x) - 1

        grid = [mpf(i) / 2000 for i in range(1, 2001)]
        values = [abs(error(x)) for x in grid] + [mpf(-1)]
        found = [x for i, x in enumerate(grid) if values[i] >= values[i - 1] and values[i] >= values[i + 1]]
        found = [findroot(lambda t: diff(error, t), x) if x < 1 else x for x in found]
        if max(abs(a - b) for a, b in zip(found, points)) < mpf(10) ** -20:
            return c, size
        points = found


def as_float(x):
    return struct.unpack("f", struct.pack("f", float(x)))[0]


for degree in (1, 2, 3, 4):
    c, size = minimax(degree)
    print(degree, "largest relative error %.4g" % float(size), [as_float(v).hex() for v in c])

# a(1 + f): the error is a − 1 at 0 and at 1, and a·2/(e·ln 2) − 1 at f = 1/ln 2 − 1.
a = 2 / (1 + 2 / (mp.e * mp.log(2)))
print("line with a free constant: largest relative error %.4g" % float(1 - a), as_float(a).hex())
