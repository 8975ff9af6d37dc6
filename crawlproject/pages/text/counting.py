"""Counts terms by their numbers: in numpy, or in the compiled code of ``term_counts.pyx``, which replaces these functions."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int32]


def counted(numbers: Numbers) -> tuple[Numbers, npt.NDArray[np.int64]]:
    """Return the distinct numbers in order of first occurrence, and the count of each."""
    different, first, counts = np.unique(numbers, return_index=True, return_counts=True)
    order = np.argsort(first)
    return different[order], counts[order]


def place_of(number: int, numbers: Numbers) -> int:
    """Return the first place of a number among others; -1 if it is not there."""
    places = (numbers == number).nonzero()[0]
    return int(places[0]) if len(places) else -1


def look_up(numbers: Numbers, values: Numbers) -> tuple[Numbers, bool]:
    """Return the value of each number, and whether no value is below 0."""
    found = values[numbers]
    return found, not (found < 0).any()


def count_up(counts: npt.NDArray[np.float64], places: Numbers) -> None:
    """Add one to the count at each of these places, which must be distinct."""
    counts[places] += 1


with suppress(Exception):  # not built, or in a zip file
    from crawlproject.pages.text.term_counts import count_up, counted, look_up, place_of  # noqa: F401 in place of those above
