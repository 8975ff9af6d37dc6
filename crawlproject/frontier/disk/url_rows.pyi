import mmap
from collections.abc import Mapping, Sequence

import numpy as np

from crawlproject.frontier.disk.url_table import Row

def matches(maps: Sequence[mmap.mmap], number: int, score: float, standing: int) -> bool: ...
def match_many(
    maps: Sequence[mmap.mmap],
    changed: Mapping[int, Row],
    numbers: np.ndarray,
    scores: np.ndarray | None,
    states: int,
    class_bits: int,
    found: np.ndarray,
) -> None: ...
def pack(changed: Mapping[int, Row]) -> bytes: ...
def store(maps: Sequence[mmap.mmap], packed: bytes) -> None: ...
