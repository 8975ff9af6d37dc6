"""Clusters of similar tag paths (Gauquier and others 2025, SB-CLASSIFIER)."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import sqrt
from zlib import crc32

import numpy as np

DIMENSIONS = 1 << 12
MAX_CLUSTERS = 1024
MAX_PATHS = 100_000  # paths whose cluster is cached


class TagPathClusters:
    """Assigns tag paths to clusters, one by one.

    A path is the vector of the frequencies of its 2-grams (pairs of neighbouring labels, begin and end marked), each
    hashed to one of ``DIMENSIONS``. It joins the cluster with the nearest centroid when their cosine is at least
    ``similarity``, else it founds one. After ``MAX_CLUSTERS`` every path joins the nearest. A path that was seen stays
    where it is.
    """

    def __init__(self, similarity: float) -> None:
        self.similarity = similarity
        self._sums = np.zeros((16, DIMENSIONS), dtype=np.float32)  # one row per cluster: the sum of its vectors
        self._norms = np.zeros(16)
        self._known: dict[str, int] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def cluster_of(self, path: str) -> int:
        """The number of the path's cluster, from 0 on in the order of their founding."""
        number = self._known.get(path)
        if number is None:
            number = self._join(*_vector(path))
            if len(self._known) >= MAX_PATHS:
                self._known.clear()
            self._known[path] = number
        return number

    def _join(self, places: np.ndarray, counts: np.ndarray) -> int:
        norm = sqrt(float(counts @ counts))
        number = self._size
        if self._size:
            cosines = (self._sums[: self._size, places] @ counts) / (self._norms[: self._size] * norm)
            nearest = int(cosines.argmax())
            if cosines[nearest] >= self.similarity or self._size == MAX_CLUSTERS:
                number = nearest
        if number == self._size:
            self._found()
        row = self._sums[number]
        row[places] += counts / norm
        self._norms[number] = sqrt(float(row @ row))
        return number

    def _found(self) -> None:
        if self._size == len(self._sums):
            self._sums = np.concatenate([self._sums, np.zeros_like(self._sums)])
            self._norms = np.concatenate([self._norms, np.zeros_like(self._norms)])
        self._size += 1


def _vector(path: str) -> tuple[np.ndarray, np.ndarray]:
    """The dimensions of a path's 2-grams, and how often each occurs."""
    labels = ["^", *path.split(), "$"]
    counts = Counter(crc32(" ".join(pair).encode("utf-8", "surrogatepass")) % DIMENSIONS for pair in pairwise(labels))
    return np.array(list(counts), dtype=np.int64), np.array(list(counts.values()), dtype=np.float32)
