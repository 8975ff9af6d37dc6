"""Files of a frontier on disk that were removed or cut from outside.

Zeros in place of what is gone would read as URLs that nobody knows. So nothing is opened then.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from crawlproject.errors import BadCrawlDir

MAPPED = ("rows", "times", "seen", "seen.map", "hosts", "hosts.map")
RECORDS = "urls.jsonl"
REMEDY = "restore the folder; or remove it, then a topical crawl makes it again from its history and pages"


def sizes_of(folder: Path) -> dict[str, int]:
    """Bytes of the mapped files, which never shrink, and of the records."""
    return {name: _size(folder / name) for name in (*MAPPED, RECORDS)}


def refuse_losses(folder: Path, found: Mapping[str, int], expected: Mapping[str, int]) -> None:
    """Raises ``BadCrawlDir`` when one of the files, of ``found`` bytes, was longer before."""
    for name, size in expected.items():
        _refuse_shorter(folder / name, found[name], size)


def refuse_stateless(folder: Path) -> None:
    """Raises ``BadCrawlDir`` when there are records of URLs, although ``state.json`` is missing."""
    if _size(folder / RECORDS):
        raise BadCrawlDir(str(folder / "state.json"), f"missing, although {RECORDS} is there; {REMEDY}")


def refuse_cut_journal(path: Path, piece: int) -> None:
    """Raises ``BadCrawlDir`` for a journal that is missing, or no longer made of whole pieces of ``piece`` bytes."""
    size = _size(path)
    _refuse_shorter(path, size, piece)
    if size % piece:
        raise BadCrawlDir(f"{path}, byte {size}", f"cut: it was a multiple of {piece} bytes long; {REMEDY}")


def _refuse_shorter(path: Path, found: int, size: int) -> None:
    if size and not path.exists():
        raise BadCrawlDir(str(path), f"missing; {REMEDY}")
    if found < size:
        raise BadCrawlDir(f"{path}, byte {found}", f"cut: it was {size} bytes long, or longer; {REMEDY}")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
