"""The interface of ``url_numbers.pyx``."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

def fill(
    found: npt.NDArray[np.int32],
    urls: list[str],
    words: Any,  # UrlWords, which imports this module
    folders: dict[str, list[str]],
    known: dict[str, list[str]],
    numbers: dict[str, int],
    number: Callable[[str], int],
) -> None: ...
