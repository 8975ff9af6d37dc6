"""How tests run: properties without a deadline, for machines are slow at times; the same and fewer examples where CI is set."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# numpy asks for pages of 2 MB, which take 0.1 s to clear for the tables of a crawl that writes to a few places of them.
os.environ["NUMPY_MADVISE_HUGEPAGE"] = "0"

settings.register_profile("everywhere", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("ci" if os.environ.get("CI") else "everywhere")

GROWTH = 200 * 2**20  # bytes
_STATM = Path("/proc/self/statm")
_after = 0


def _resident() -> int:
    return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if _STATM.exists() else 0


@pytest.fixture(autouse=True)
def _what_crawls_left_is_freed() -> Iterator[None]:
    """A finished crawl is a few objects in a cycle and 100 MB, which the collector, that counts objects, does not see."""
    global _after
    yield
    if _resident() > _after + GROWTH:
        gc.collect()
        _after = _resident()


def pytest_collection_finish() -> None:
    """Ten thousand tests are half a million objects, at which the collector need not look again and again."""
    gc.collect()
    gc.freeze()
