"""The interface of ``text_hashes.pyx``."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crawlproject.pages.text.plain_hashes import Hashes, Minima
from crawlproject.records import Page

def term_hashes(terms: Sequence[str]) -> tuple[Hashes, Hashes]: ...
def shingle_hashes(terms: Hashes) -> Hashes: ...
def minima_of(hashes: Hashes) -> tuple[Minima, int]: ...
def without_links(page: Page, plain: Hashes, folded: Hashes) -> tuple[Hashes, Hashes]: ...
def new_share(
    shingles: Hashes, sampled: int | np.uint64, host: int, found: Hashes, seen: npt.NDArray[np.uint32]
) -> float: ...
