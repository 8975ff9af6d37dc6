"""Tools for orderings that learn: evidence about waiting URLs, numbers for terms, and reproducible random numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from math import log
from random import Random
from typing import Generic, TypeVar

import numpy as np

from crawlproject.pages.text.counting import Numbers, look_up
from crawlproject.pages.text.terms import Terms, Vocabulary

Evidence = TypeVar("Evidence")


class WaitingUrls(Generic[Evidence]):
    """Maps each waiting URL to evidence about it, from the first link to the URL until its fetch has ended.

    A URL whose fetch has ended never waits again, however many links lead to it. At most ``limit`` URLs are stored; beyond
    that the oldest is dropped, since a frontier may drop URLs without notice.
    """

    def __init__(self, limit: int = 1_000_000) -> None:
        self._limit = limit
        self._evidence: dict[str, Evidence] = {}
        self._ended: set[str] = set()

    def get(self, url: str) -> Evidence | None:
        return self._evidence.get(url)

    def has_ended(self, url: str) -> bool:
        return url in self._ended

    def put(self, url: str, evidence: Evidence) -> tuple[str, Evidence] | None:
        """Store ``url``; return the entry that was dropped for it, if any."""
        forgotten = None
        if url not in self._evidence and len(self._evidence) >= self._limit:
            oldest = next(iter(self._evidence))
            forgotten = oldest, self._evidence.pop(oldest)
        self._evidence[url] = evidence
        return forgotten

    def end(self, url: str) -> Evidence | None:
        """The fetch of ``url`` has ended: remove and return its evidence."""
        self._ended.add(url)
        return self._evidence.pop(url, None)

    def move(self, url: str, target: str) -> None:
        """``url`` redirects to ``target``, which takes over its evidence unless it already has evidence."""
        evidence = self.end(url)
        if evidence is not None and target not in self._ended and target not in self._evidence:
            self.put(target, evidence)

    def __len__(self) -> int:
        return len(self._evidence)

    def items(self) -> Iterator[tuple[str, Evidence]]:
        """Waiting URLs and their evidence, oldest first; ``put`` and ``end`` must not be called meanwhile."""
        return iter(self._evidence.items())


class SeededDraw:
    """``draw(url)``: uniform in [0, 1), always the same for one URL.

    The number is fixed because the frontier keeps the best of several scores: fresh draws would favour URLs with many
    in-links. ``random`` is used once, for the key.
    """

    def __init__(self, random: Random) -> None:
        self._key = random.randbytes(16)

    def __call__(self, url: str) -> float:
        digest = blake2b(url.encode("utf-8", "surrogatepass"), digest_size=7, key=self._key).digest()
        return int.from_bytes(digest, "big") / 2**56


class ExponentialDraw:
    """``draw(url)``: an exponential variate of mean 1, between 1e-16 and 37, made from a uniform ``SeededDraw``.

    Used as the time until a clock rings, it draws URLs without replacement: each clock is the next to ring with a
    probability proportional to its rate, however long it has run, since the variate has no memory.
    """

    def __init__(self, uniform: SeededDraw) -> None:
        self._uniform = uniform

    def __call__(self, url: str) -> float:
        return -log((int(self._uniform(url) * 2**52) + 0.5) / 2**52)


class TermIds:
    """Numbers terms 1, 2, 3, ... in order of appearance; 0 is the empty term, and every new term after ``limit`` terms."""

    def __init__(self, limit: int = 200_000) -> None:
        self._limit = limit
        self.numbers = {"": 0}  # term -> number; read by other classes
        self._vocabulary = Vocabulary()  # the vocabulary of the latest ``Terms``
        self._known = np.zeros(0, np.int32)  # our number for each of its terms; -1: not looked up yet

    def of(self, terms: Iterable[str]) -> Numbers:
        """One number per term, as an array of the same length."""
        if not isinstance(terms, Terms):
            texts = list(terms)
            found = list(map(self.numbers.get, texts))
            if None in found:
                found = [
                    self.number(term) if known is None else known for term, known in zip(texts, found, strict=True)
                ]
            return np.array(found, np.int32)
        if terms.vocabulary is not self._vocabulary:
            self._vocabulary, self._known = terms.vocabulary, np.zeros(0, np.int32)
        if len(self._known) < len(self._vocabulary.terms):
            known, self._known = self._known, np.full(2 * len(self._vocabulary.terms), -1, np.int32)
            self._known[: len(known)] = known
        numbers, all_known = look_up(terms.numbers, self._known)
        if not all_known:
            for number in dict.fromkeys(terms.numbers[numbers < 0].tolist()):
                self._known[number] = self.number(self._vocabulary.terms[number])
            numbers, _ = look_up(terms.numbers, self._known)
        return numbers

    def number(self, term: str) -> int:
        number = self.numbers.get(term)
        if number is None:
            number = len(self.numbers)
            if number > self._limit:
                return 0
            self.numbers[term] = number
        return number
