"""Reproducible random numbers: fixed functions of a URL and the seed of the crawl."""

from __future__ import annotations

from hashlib import blake2b
from math import log
from random import Random


class SeededDraw:
    """``draw(url)``: uniform in [0, 1), always the same for one URL.

    Fixed, because the frontier keeps the best of several offers: fresh draws would favour URLs with many in-links.
    ``random`` is used once, for the key.
    """

    def __init__(self, random: Random) -> None:
        self._key = random.randbytes(16)

    def __call__(self, url: str) -> float:
        digest = blake2b(url.encode("utf-8", "surrogatepass"), digest_size=7, key=self._key).digest()
        return int.from_bytes(digest, "big") / 2**56


class ExponentialDraw:
    """``draw(url)``: an exponential variate of mean 1, 1e-16 to 37, made from a uniform ``SeededDraw``.

    As the time until a clock rings, it draws without replacement: of several clocks any may be the next to ring, in
    proportion to their rates, however long each has run, since the variate has no memory.
    """

    def __init__(self, uniform: SeededDraw) -> None:
        self._uniform = uniform

    def __call__(self, url: str) -> float:
        return -log((int(self._uniform(url) * 2**52) + 0.5) / 2**52)
