"""The interface of ``term_counts.pyx``."""

import numpy as np
import numpy.typing as npt

def count(numbers: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]: ...
def squared_norms(numbers: npt.NDArray[np.int32], spans: list[tuple[int, int]]) -> list[int]: ...
