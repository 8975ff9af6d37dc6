"""What a visit is worth when the rate of change is uncertain: the index of a page, and the time at which it reaches a price.

A page's multiplier has a Gamma posterior with shape a and scale b, in units of its group's clock. When the clock has run x
since the last visit, the page has changed with probability D(x) = 1 - (b / (b + x))^a, and a visit is worth x D(x) - ∫ D, as
in ``allocation``: b × v(a, x / b), with

    v(a, z) = (1 - (1 + z)^(1 - a)) / (a - 1) - z (1 + z)^-a.

With a → ∞ this is the freshness optimum of Cho and Garcia-Molina (2003). With few observations it is larger for long
intervals: a page is only given up when enough visits have shown that it changes too fast (for a <= 1 never).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from crawlproject.parts.revisits.allocation import Array

SHAPES = np.exp(np.linspace(math.log(0.05), math.log(200), 96))
TIMES = np.exp(np.linspace(math.log(1e-7), math.log(1e7), 1024))
LEVELS = np.linspace(math.log(1e-14), math.log(1e4), 1024)


def visit_gain(shape: Array, z: Array) -> Array:
    """v(a, z); arrays of one shape, a > 0, z >= 0."""
    log1z = np.log1p(z)
    near = np.abs(shape - 1) < 1e-6
    safe = np.where(near, 2.0, shape)
    integral = np.where(near, log1z, -np.expm1((1 - safe) * log1z) / (safe - 1))
    exact = integral - z * np.exp(-shape * log1z)
    small = shape * z * z / 2 * (1 - 2 * (shape + 1) / 3 * z)
    return np.where(z * (1 + shape) < 1e-4, small, exact)


@cache
def _table() -> Array:
    """log z by shape (rows) and log v (columns); ``inf`` where v is never reached."""
    table = np.empty((len(SHAPES), len(LEVELS)))
    for index, shape in enumerate(SHAPES):
        gains = np.log(visit_gain(np.full(len(TIMES), shape), TIMES))
        table[index] = np.interp(LEVELS, gains, np.log(TIMES), left=math.log(TIMES[0]), right=np.inf)
    return table


def time_to_gain(shape: Array, gain: Array) -> Array:
    """The z with v(shape, z) = gain, interpolated in a table; ``inf`` when there is none."""
    table = _table()
    a = np.interp(np.log(shape), np.log(SHAPES), np.arange(len(SHAPES)))
    with np.errstate(divide="ignore"):
        level = np.interp(np.log(gain), LEVELS, np.arange(len(LEVELS)))
    i, j = np.minimum(a.astype(int), len(SHAPES) - 2), np.minimum(level.astype(int), len(LEVELS) - 2)
    u, v = a - i, level - j
    with np.errstate(invalid="ignore"):
        low = np.where(v > 0, table[i, j] * (1 - v) + table[i, j + 1] * v, table[i, j])
        high = np.where(v > 0, table[i + 1, j] * (1 - v) + table[i + 1, j + 1] * v, table[i + 1, j])
        mixed = np.where(u > 0, low * (1 - u) + high * u, low)
    return np.exp(np.where(np.isnan(mixed), np.inf, mixed))
