"""The vectors of the chunks of a crawl, beside the full-text index: memory-mapped files that NumPy scans from end to end.

index/vectors/state.json       the model, the valid length of the other files, and how far the items were read
index/vectors/rows.N.bin       a row per chunk: its vector, one byte per number; page, digest of the page, offset in the chunks
index/vectors/chunks.N.jsonl   a line per chunk: the headings above it, and the beginning of its text

Data is appended to the files before the state is written; data of a killed process beyond that state is truncated. N grows
when the files are rewritten without unused rows. Why it is not a database: ``docs/adr/0067-vectors-in-a-mapped-file.md``.
"""

from __future__ import annotations

import fcntl
import mmap
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson

from crawlproject.configuration import program
from crawlproject.errors import BadCrawlDir, BadSetting, trying_to
from crawlproject.exporting.index.store import FOLDER
from crawlproject.language_models.base import Embedder, Vectors
from crawlproject.storage.append_log import write_atomically

VERSION = 1
_BLOCK = 1_024  # rows processed together: few enough for BLAS to multiply in one thread, which waits for no other
_CANDIDATES = 10  # chunks considered per requested page, since a page has several


class Passage(NamedTuple):
    """A chunk: the MD5 of its page, the ``headings`` above it, the beginning of its ``text``, and the cosine with the query."""

    page: str
    headings: tuple[str, ...]
    text: str
    cosine: float = 0.0


@dataclass(frozen=True)
class VectorState:
    """The content of ``state.json``: the number of valid ``rows``, and of valid ``bytes`` in the chunk lines.

    ``items`` is the number of bytes of the items that were read. ``unused`` rows belong to pages that are gone or have changed.
    """

    model: str
    dimensions: int = 0  # 0: nothing was embedded yet
    rows: int = 0
    bytes: int = 0
    generation: int = 0
    unused: int = 0
    items: int = 0
    version: int = VERSION


def read_vector_state(crawl_dir: Path) -> VectorState | None:
    """Return the state of the vectors, None if there are none. Raises ``BadCrawlDir``."""
    path = _folder(crawl_dir) / "state.json"
    try:
        found = orjson.loads(path.read_bytes())
        if isinstance(found, Mapping) and found.get("version") != VERSION:
            raise ValueError(f"version {found.get('version')}")
        state = VectorState(**found)
        if not all(isinstance(value, int) and value >= 0 for name, value in asdict(state).items() if name != "model"):
            raise ValueError("expected numbers")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, TypeError, ValueError) as damage:
        raise damaged(path, damage) from None
    return state


def written(crawl_dir: Path) -> int:
    """Return when the state was written, in nanoseconds since 1970; 0 if there is none."""
    try:
        return (_folder(crawl_dir) / "state.json").stat().st_mtime_ns
    except OSError:
        return 0


def damaged(path: Path, damage: object) -> BadCrawlDir:
    """Return the error for vectors that cannot be read."""
    advice = f"{program} index --vectors --rebuild creates new ones; to search the text only, remove {path.parent}"
    return BadCrawlDir(str(path), f"the vectors cannot be read ({damage}); {advice}")


def other_model(state: VectorState, model: Embedder) -> BadSetting:
    """Return the error for vectors that are of another model than that of the query or the new pages."""
    wish = f"the vectors of this crawl are those of {state.model!r}, not of {model.name!r}"
    return BadSetting(
        "setting SEARCH_MODEL", f"{wish}; name that model, or create new vectors: {program} index --vectors --rebuild"
    )


class VectorReader:
    """Finds the chunks that are nearest to a vector. Raises ``BadCrawlDir`` for damaged files.

    Files that another process writes anew, and removes, stay as they were for it.
    """

    def __init__(self, crawl_dir: Path, state: VectorState) -> None:
        self._rows_path, self._lines_path = _files(crawl_dir, state)
        kind = _row(state.dimensions)
        for path, size in ((self._rows_path, state.rows * kind.itemsize), (self._lines_path, state.bytes)):
            if (there := _size(path)) < size:
                raise damaged(path, f"it has {there:,} of {size:,} bytes")
        self.rows: Any = np.zeros(0, kind)
        if not state.rows:
            return
        try:
            self.rows = np.memmap(self._rows_path, kind, "r", shape=(state.rows,))
            with self._lines_path.open("rb") as file:
                self._lines = mmap.mmap(file.fileno(), state.bytes, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as damage:
            raise damaged(self._rows_path.parent / "state.json", damage) from None

    def nearest(self, question: Vectors, pages: int) -> list[Passage]:
        """Return the best chunk of each of up to ``pages`` pages, by cosine, best first. Each cosine is above 0."""
        cosines = np.empty(len(self.rows), np.float32)
        for start in range(0, len(self.rows), _BLOCK):
            block = self.rows[start : start + _BLOCK]
            cosines[start : start + _BLOCK] = block["numbers"].astype(np.float32) @ question
            cosines[start : start + _BLOCK] *= block["factor"]
        if not np.isfinite(cosines).all():
            raise damaged(self._rows_path, "it contains values that are not numbers")
        wanted = min(_CANDIDATES * pages, len(cosines))
        best = np.argpartition(-cosines, wanted - 1)[:wanted] if wanted else np.zeros(0, int)
        found: dict[bytes, int] = {}
        for number in best[np.lexsort((best, -cosines[best]))]:
            if cosines[number] > 0 and len(found) < pages:
                found.setdefault(self.rows["page"][number].tobytes(), int(number))
        return [self._passage(number, float(cosines[number])) for number in found.values()]

    def _passage(self, number: int, cosine: float) -> Passage:
        row = self.rows[number]
        try:
            start = int(row["line"])
            headings, text = orjson.loads(self._lines[start : self._lines.find(b"\n", start)])
            return Passage(row["page"].tobytes().hex(), tuple(map(str, headings)), str(text), cosine)
        except (TypeError, ValueError) as damage:
            raise damaged(self._lines_path, damage) from None


class VectorWriter:
    """Adds and removes the chunks of pages. ``known`` maps each page with vectors to its digest. Raises ``StorageFailed``."""

    def __init__(self, crawl_dir: Path, state: VectorState) -> None:
        self._crawl_dir = crawl_dir
        self.state = state
        rows = VectorReader(crawl_dir, state).rows
        used = np.flatnonzero(rows["factor"])
        self._places: dict[bytes, list[int]] = {}
        self.known: dict[bytes, bytes] = {}
        for start in range(0, len(used), _BLOCK):
            block = used[start : start + _BLOCK]
            for number, page, digest in zip(block.tolist(), rows["page"][block], rows["digest"][block], strict=True):
                self._places.setdefault(page.tobytes(), []).append(number)
                self.known[page.tobytes()] = digest.tobytes()
        for path, size in zip(_files(crawl_dir, state), (rows.nbytes, state.bytes), strict=True):
            with trying_to("write", path):
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("ab") as file:
                    file.truncate(size)

    def add(self, page: bytes, digest: bytes, vectors: Vectors, passages: Sequence[Passage]) -> None:
        """Append the chunks of a page. They are valid only after ``commit``."""
        if not self.state.dimensions:
            self.state = replace(self.state, dimensions=vectors.shape[1])
        lines = [
            orjson.dumps([passage.headings, passage.text], option=orjson.OPT_APPEND_NEWLINE) for passage in passages
        ]
        ends = np.cumsum([self.state.bytes, *map(len, lines)])
        rows = np.zeros(len(lines), _row(self.state.dimensions))
        largest = np.abs(vectors).max(axis=1, keepdims=True)
        rows["numbers"] = np.rint(vectors * (127 / np.where(largest > 0, largest, 1)))
        rows["factor"] = np.where(largest > 0, largest, 1)[:, 0] / 127
        rows["page"], rows["digest"], rows["line"] = np.void(page), np.void(digest), ends[:-1]
        self._append(rows.tobytes(), b"".join(lines))
        self._places[page] = [*range(self.state.rows, self.state.rows + len(rows))]
        self.known[page] = digest
        self.state = replace(self.state, rows=self.state.rows + len(rows), bytes=int(ends[-1]))

    def remove(self, page: bytes) -> None:
        """Mark the rows of a page that is gone or has changed as unused, by the factor 0."""
        rows, _ = _files(self._crawl_dir, self.state)
        kind = _row(self.state.dimensions)
        with trying_to("write", rows), rows.open("r+b") as file:
            for number in self._places.pop(page):
                file.seek(number * kind.itemsize + kind.fields["factor"][1])  # type: ignore[index]
                file.write(bytes(4))
                self.state = replace(self.state, unused=self.state.unused + 1)
        del self.known[page]

    def commit(self) -> None:
        """Make everything that was added valid."""
        for path in _files(self._crawl_dir, self.state):
            with trying_to("write", path), path.open("rb") as file:
                os.fsync(file.fileno())
        _write_state(self._crawl_dir, self.state)

    def finish(self, items: int) -> None:
        """Commit with all items read up to the byte ``items``. If most rows are unused, the files are rewritten."""
        before = self.state
        self.state = replace(self.state, items=items)
        if self.state.unused > self.state.rows / 2:
            self._write_anew()
        self.commit()
        if self.state.generation != before.generation:
            _remove(_files(self._crawl_dir, before))

    def _write_anew(self) -> None:
        old = self.state
        reader = VectorReader(self._crawl_dir, old)
        self.state = replace(old, generation=old.generation + 1, rows=0, bytes=0, unused=0)
        _remove(_files(self._crawl_dir, self.state))  # left by a killed process
        place = _files(self._crawl_dir, old)[1]
        with trying_to("read", place):
            lines = place.read_bytes()
        for page, places in self._places.items():
            rows = reader.rows[places]
            kept = [lines[start : lines.index(b"\n", start) + 1] for start in rows["line"].tolist()]
            rows["line"] = np.cumsum([self.state.bytes, *map(len, kept)])[:-1]
            self._append(rows.tobytes(), b"".join(kept))
            self._places[page] = [*range(self.state.rows, self.state.rows + len(rows))]
            size = self.state.bytes + sum(map(len, kept))
            self.state = replace(self.state, rows=self.state.rows + len(rows), bytes=size)

    def _append(self, rows: bytes, lines: bytes) -> None:
        for path, more in zip(_files(self._crawl_dir, self.state), (rows, lines), strict=True):
            with trying_to("write", path), path.open("ab") as file:
                file.write(more)


@contextmanager
def writing_alone(crawl_dir: Path) -> Iterator[None]:
    """Hold the lock for writing vectors. Raises ``BadCrawlDir`` if another process holds it."""
    folder = _folder(crawl_dir)
    with trying_to("write", folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("ab")
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadCrawlDir(str(folder), "another process writes these vectors; wait until it has ended") from None
        yield


def begin_vectors(crawl_dir: Path, model: str) -> VectorState:
    """Remove all files of vectors, and write and return the state without any vectors. Raises ``StorageFailed``."""
    _remove([_folder(crawl_dir) / "state.json"])  # first: the others without it are harmless
    _remove(_folder(crawl_dir).glob("*.*"))
    state = VectorState(model)
    _write_state(crawl_dir, state)
    return state


def _write_state(crawl_dir: Path, state: VectorState) -> None:
    write_atomically(_folder(crawl_dir) / "state.json", [orjson.dumps(asdict(state), option=orjson.OPT_INDENT_2)])


def _row(dimensions: int) -> np.dtype[Any]:
    fields = [("numbers", "i1", dimensions), ("factor", "<f4"), ("page", "V16"), ("digest", "V16"), ("line", "<u8")]
    return np.dtype(fields)


def _folder(crawl_dir: Path) -> Path:
    return crawl_dir / FOLDER / "vectors"


def _files(crawl_dir: Path, state: VectorState) -> tuple[Path, Path]:
    folder = _folder(crawl_dir)
    return folder / f"rows.{state.generation}.bin", folder / f"chunks.{state.generation}.jsonl"


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with trying_to("remove", path):
            path.unlink(missing_ok=True)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
