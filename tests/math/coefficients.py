# SPDX-License-Identifier: Apache-2.0
"""Derives the polynomial coefficients of math/exp.hpp and math/log.hpp and the bounds stated there. Needs mpmath.

Interpolates at Chebyshev nodes, which is near the minimax polynomial, rounds the coefficients to double, and then bounds
the relative error of the whole approximation on a grid.
"""
from mpmath import mp, mpf, cos, pi, exp, log, atanh, sqrt, lu_solve, matrix

mp.prec = 400


def interpolate(f, low, high, count):
    nodes = [(low + high) / 2 + (high - low) / 2 * cos((2 * i + 1) * pi / (2 * count)) for i in range(count)]
    c = lu_solve(matrix([[x**j for j in range(count)] for x in nodes]), matrix([f(x) for x in nodes]))
    return [float(v) for v in c]


def value(c, x):
    return sum(mpf(v) * x**i for i, v in enumerate(c))


def grid(low, high, n=4000):
    return [low + (high - low) * (i + mpf(1) / 3) / n for i in range(n)]


def show(name, c, error):
    print(name, "relative error 2^%.2f" % float(log(error, 2)))
    for v in c:
        print("   ", v.hex())


# e^r = 1 + r + r²(1/2 + r·p(r)), |r| ≤ ln 2 / 2
a = log(mpf(2)) / 2 * (1 + mpf(2) ** -30)
c = interpolate(lambda r: ((exp(r) - 1 - r) / r**2 - mpf(1) / 2) / r, -a, a, 10)
show("exp", c, max(abs((1 + r + r * r / 2 + r**3 * value(c, r)) / exp(r) - 1) for r in grid(-a, a)))

# log(1 + f) = f − f²/2 + s(f²/2 + z·p(z)), s = f/(2 + f), z = s²
z_high = (3 - 2 * sqrt(mpf(2))) ** 2 * (1 + mpf(2) ** -20)
c = interpolate(lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2) / z, mpf(2) ** -60, z_high, 8)
show("log", c, max(abs((2 * s + s**3 * value(c, s * s)) / (2 * atanh(s)) - 1) for s in grid(mpf(0), sqrt(z_high))))

for kept in (42, 26):
    high = float(mp.nint(log(mpf(2)) * 2**kept) / 2**kept)
    print("ln 2,", kept, "bits", high.hex(), "and the rest", float(log(mpf(2)) - mpf(high)).hex())
print("ln 2", float(log(mpf(2))).hex(), "log2 e", float(1 / log(mpf(2))).hex())
for name, x in (("ln of the smallest normal", log(mpf(2)) * -1022), ("ln of 2^1024", log(mpf(2)) * 1024)):
    print(name, float(x).hex(), float(x), "below" if mpf(float(x)) < x else "above")
x = log((mpf(2) - mpf(2) ** -53) * mpf(2) ** 1023)  # the tie above the largest finite double
print("overflow", float(x).hex(), float(x), "below" if mpf(float(x)) < x else "above")
