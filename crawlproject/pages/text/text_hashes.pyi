"""The interface of ``text_hashes.pyx``."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crawlproject.records import Span

def hash_terms(
    terms: Sequence[str],
    base: int,
    number: int | np.uint64,
    max_bytes: int,
    plain: npt.NDArray[np.uint64],
    folded: npt.NDArray[np.uint64],
) -> int: ...
def hash_each(terms: Sequence[str], base: int, number: int | np.uint64, found: npt.NDArray[np.void]) -> None: ...
def look_up(
    numbers: npt.NDArray[np.int32],
    known: npt.NDArray[np.void],
    plain: npt.NDArray[np.uint64],
    folded: npt.NDArray[np.uint64],
) -> int: ...
def leave_out(
    spans: list[Span], outside: npt.NDArray[np.uint8], plain: npt.NDArray[np.uint64], folded: npt.NDArray[np.uint64]
) -> int: ...
def hash_shingles(
    terms: npt.NDArray[np.uint64], factors: npt.NDArray[np.uint64], shingles: npt.NDArray[np.uint64]
) -> None: ...
def find_minima(
    hashes: npt.NDArray[np.uint64],
    bits: int,
    sources: npt.NDArray[np.uint8],
    seen: npt.NDArray[np.uint64],
    minima: npt.NDArray[np.uint16],
) -> int: ...
def new_share(
    shingles: npt.NDArray[np.uint64],
    sampled: int | np.uint64,
    host: int,
    least: int,
    found: npt.NDArray[np.uint64],
    seen: npt.NDArray[np.uint32],
) -> float: ...
