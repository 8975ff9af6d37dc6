"""The interface of ``evidence.pyx``."""

from typing import Any

import numpy as np
import numpy.typing as npt

from crawlproject.records import Span

Vector = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]

def fill(
    found: Vector,
    rows: Rows,
    table: Any,  # LinkTable, which imports this module
    parents: Any,  # the same, or TopicParents
    columns: tuple[int, ...],
    logarithms: Vector,
    keywords: Vector,
    feedback: Vector,
    weighty: npt.NDArray[np.uint8],
    means: tuple[Any, ...],
    average: Vector,
    counts: Vector,
    full_keywords: float,
    full_feedback: float,
    shrink: float,
) -> None: ...
def describe(
    terms: Numbers, columns: tuple[int, ...], rows: Rows, text: Numbers, anchors: list[Span], contexts: list[Span]
) -> None: ...
