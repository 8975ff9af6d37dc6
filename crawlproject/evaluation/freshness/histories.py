"""Change histories of sites: when each version of each page was published, with its digest, sketch and links, but no text.

A file is gzip JSON lines: the first line describes the site (``site``, ``from``, ``to`` in seconds since the epoch), each
further line a page: ``{"id", "url", "versions": [[t, text, byte, size, sketch, added, removed], ...], "gone": [[from, to or
null], ...]}``. ``text`` is a digest of the visible text ("": that of the previous version). A sketch holds the smallest
hashes of shingles; ``sketch`` is null (that of the previous version) or ``[base64 of added 8-byte big-endian hashes, indices
of removed hashes in the sorted previous sketch]``.
"""

from __future__ import annotations

import base64
import gzip
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt
import orjson

from crawlproject.errors import BadInput

SUFFIX = ".jsonl.gz"
Sketch = npt.NDArray[np.uint64]


@dataclass(slots=True)
class PageHistory:
    """The versions of a page: version k is online from ``times[k]`` to ``times[k + 1]``.

    ``texts[k]`` is the number of its text: versions with equal numbers have equal texts. ``links[k]`` are the ids of the
    pages of its site that it links to. ``gone`` are the periods in which the page did not exist; the last may end at
    infinity.
    """

    url: str
    times: npt.NDArray[np.float64]
    texts: npt.NDArray[np.int64]
    sketches: list[Sketch]
    links: list[frozenset[int]]
    gone: list[tuple[float, float]]
    _distances: dict[tuple[int, int], float] = field(default_factory=dict)

    @property
    def born(self) -> float:
        return float(self.times[0])

    def version_at(self, time: float) -> int:
        """Index of the version that is online; -1 before the page was published."""
        return int(np.searchsorted(self.times, time, side="right")) - 1

    def exists(self, time: float) -> bool:
        return time >= self.times[0] and not any(start <= time < end for start, end in self.gone)

    def distance(self, one: int, other: int) -> float:
        """Jaccard distance of two versions by their sketches: 0 for equal texts, else 0.01 to 1."""
        if self.texts[one] == self.texts[other]:
            return 0.0
        key = (one, other) if one < other else (other, one)
        if key not in self._distances:
            self._distances[key] = max(0.01, jaccard_distance(self.sketches[one], self.sketches[other]))
        return self._distances[key]


@dataclass(slots=True)
class SiteHistory:
    """A site: ``start`` and ``end`` of its record, in seconds since the epoch, and its pages, indexed by id."""

    name: str
    start: float
    end: float
    pages: list[PageHistory]


def jaccard_distance(one: Sketch, other: Sketch) -> float:
    """1 - |A ∩ B| / |A ∪ B|, estimated from the smallest hashes of both (A. Broder, SEQUENCES 1997)."""
    if not len(one) or not len(other):
        return float(len(one) != len(other))
    union = np.union1d(one, other)[: max(len(one), len(other))]
    both = np.intersect1d(one, other, assume_unique=True)
    return 1 - float(np.isin(union, both, assume_unique=True).mean())


def read_site(path: Path) -> SiteHistory:
    """Read a change history. Raises ``BadInput``, which names file and line, for any other file."""
    line_number = 1
    try:
        with gzip.open(path, "rb") as file:
            head = orjson.loads(next(file))
            pages: dict[int, PageHistory] = {}
            for line in file:
                line_number += 1
                row = orjson.loads(line)
                pages[row["id"]] = _read_page(row)
            if sorted(pages) != list(range(len(pages))):
                raise BadInput(str(path), "expected the ids of pages to count from 0 without gaps")
            return SiteHistory(
                head["site"], float(head["from"]), float(head["to"]), [pages[i] for i in range(len(pages))]
            )
    except StopIteration:
        raise BadInput(str(path), "expected a line that describes the site; the file is empty") from None
    except (OSError, EOFError, zlib.error) as problem:
        raise BadInput(str(path), f"expected a gzip file of JSON lines ({problem})") from None
    except (orjson.JSONDecodeError, KeyError, TypeError, IndexError, ValueError) as problem:
        if isinstance(problem, BadInput):
            raise
        raise BadInput(f"{path} line {line_number}", f"expected a change history ({problem!r})") from None


def find_histories(folder: Path) -> list[Path]:
    """The history files of a folder, by name. Raises ``BadInput`` when there is none."""
    found = sorted(folder.glob(f"*{SUFFIX}"))
    if not found:
        raise BadInput(str(folder), f"expected a folder with change histories (*{SUFFIX})")
    return found


def section_of(url: str) -> str:
    """The first folder of a URL's path, "" at the top: pages of a section often share a template."""
    parts = urlsplit(url).path.split("/")
    return parts[1] if len(parts) > 2 else ""


def _read_page(row: dict[str, Any]) -> PageHistory:
    versions = row["versions"]
    numbers: dict[str, int] = {}
    texts: list[int] = []
    sketches: list[Sketch] = []
    links: list[frozenset[int]] = []
    sketch: Sketch = np.empty(0, dtype=np.uint64)
    targets: frozenset[int] = frozenset()
    for _, text, _, _, change, added, removed in versions:
        texts.append(numbers.setdefault(text, len(numbers)) if text else texts[-1])
        if change is not None:
            came, went = change
            kept = np.delete(sketch, went)
            hashes = np.frombuffer(base64.b64decode(came + "=" * (-len(came) % 4)), dtype=">u8").astype(np.uint64)
            sketch = np.sort(np.concatenate([kept, hashes]))
        if added or removed:
            targets = targets.difference(removed).union(added)
        sketches.append(sketch)
        links.append(targets)
    times = np.array([version[0] for version in versions], dtype=np.float64)
    gone = [(float(start), float(end) if end is not None else np.inf) for start, end in row["gone"]]
    return PageHistory(row["url"], times, np.array(texts, dtype=np.int64), sketches, links, gone)
