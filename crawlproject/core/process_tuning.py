"""What makes a process cheaper that crawls or rehearses."""

from __future__ import annotations

import gc
from functools import cache

from threadpoolctl import threadpool_limits


@cache  # what an earlier crawl left in cycles must not be frozen by the next one: it would never be freed
def tune_process() -> None:
    """Spare the process work that a crawl does not need. Call it after the imports; in one process only the first call counts.

    A crawl makes many small objects and hardly any cycle: the default thresholds of the garbage collector cost about 4% of
    its CPU. Its matrices are small: the threads of NumPy's BLAS wait more than they work, which cost 1 to 3%.
    """
    gc.freeze()  # what was imported is never looked at
    gc.set_threshold(50_000, 20, 100)
    threadpool_limits(1, user_api="blas")
