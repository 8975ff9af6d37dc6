"""The sketches of the originals, the pages that are not duplicates: in memory for a rehearsal, else in ``sketches.jsonl``.

``KeyTable`` finds them by 64-bit keys in little memory. A key may have several numbers, and nothing is ever removed.
"""

from __future__ import annotations

import os
from array import array
from binascii import Error as BadBase64
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar, Protocol

import orjson

from crawlproject.core.learned_state import Unfit
from crawlproject.errors import BadCrawlDir, trying_to
from crawlproject.storage.append_log import AppendLog, unexpected

try:
    from crawlproject.parts.duplicates import key_slots
except Exception:  # not built, or in a zip file
    key_slots = None  # type: ignore[assignment]

NAME = "sketches.jsonl"
PER_KEY = 8  # numbers kept for a key: the first ones

_BYTES = ("minima", "menu", "prose")  # binary fields
_TABLES = 64
_FIRST = 32  # initial size of a table, in places
_NUMBER = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class OriginalPage:
    """What is stored of a page that is not a duplicate, to recognise later duplicates of it.

    ``minima``: 256 bytes, 128 little-endian numbers. ``text``, ``title``, ``headline``, ``name``, ``series`` (title and name
    without their numbers) and ``links`` are digests, 0 to 2^64 - 1; 0 if the title says little, or there are no links.
    ``menu``: sketch of the names that the links lead to, 64 bytes or none. ``words`` (of the headline), ``terms`` and
    ``shingles`` are counts. ``language`` is the tag that the page states. ``prose``: for a page that is mostly links, the
    sketch of its terms outside links, 64 bytes or none. Older crawls wrote neither ``language`` nor ``prose``.
    """

    url: str
    minima: bytes
    text: int
    title: int
    headline: int
    words: int
    name: int
    series: int
    links: int
    menu: bytes
    terms: int
    shingles: int
    language: str = ""
    prose: bytes = b""


_NAMES = tuple(field.name for field in fields(OriginalPage))
_values_of = attrgetter(*_NAMES)


def written_original(original: OriginalPage) -> dict[str, Any]:
    """An original in a form that JSON can carry."""
    written = dict(zip(_NAMES, _values_of(original), strict=True))
    for name in _BYTES:
        written[name] = b2a_base64(written[name], newline=False).decode("ascii")
    return written


def read_original(fields: dict[str, Any]) -> OriginalPage:
    """The original from the result of ``written_original``. Raises ``TypeError`` and ``binascii.Error``."""
    return OriginalPage(**{**fields, **{name: a2b_base64(fields.get(name, "")) for name in _BYTES}})


_ILLEGIBLE = OriginalPage("", bytes(256), 0, 0, 0, 0, 0, 0, 0, b"", 0, 0)  # resembles no page


class SketchStore(Protocol):
    """The originals, numbered in order of arrival."""

    def append(self, original: OriginalPage, /) -> None: ...

    def __getitem__(self, number: int) -> OriginalPage: ...

    def __len__(self) -> int: ...

    def stored(self) -> Iterator[OriginalPage]:
        """Yield, and number, the originals that an earlier run has stored and that have no number yet, in order."""
        ...

    def learned(self) -> Any:
        """Which originals have numbers, for a checkpoint."""
        ...

    def set_learned(self, learned: Any, last_url: str) -> None:
        """Restore the numbers from a checkpoint. Raises ``Unfit`` unless the last of them is the original of ``last_url``."""
        ...

    def close(self) -> None: ...


class MemorySketchStore(list[OriginalPage]):
    """A store for a crawl that leaves nothing on disk."""

    def stored(self) -> Iterator[OriginalPage]:
        return iter(())

    def learned(self) -> Any:
        return None

    def set_learned(self, learned: Any, last_url: str) -> None:
        raise Unfit("they were kept in memory")

    def close(self) -> None:
        """Nothing to do."""


class DiskSketchStore:
    """A store on disk: one line of about 700 bytes for each original, and 8 bytes of memory.

    ``known`` says whether a URL is in the history: trailing lines of other URLs are removed, since these pages will be fetched
    again. A damaged line and all lines after it are removed, too; ``warn`` gets a message, and the pages are sketched again.
    Originals are written in batches of ``gathered``; those not yet written are lost when the store is closed. Raises
    ``StorageFailed``.
    """

    def __init__(
        self, path: Path, known: Callable[[str], bool], warn: Callable[[str], None], *, gathered: int = 1
    ) -> None:
        self._path = path
        self._warn = warn
        self._log = AppendLog(path)
        with suppress(BadCrawlDir):  # ``stored`` will find the damage
            self._log.trim(lambda line: known(line["url"]))
        self._starts = array("Q")
        self._end = 0
        self._most_gathered = gathered
        self._gathered: list[OriginalPage] = []
        with trying_to("read", path):
            self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def append(self, original: OriginalPage) -> None:
        if len(self._gathered) + 1 < self._most_gathered:
            self._gathered.append(original)
        else:
            self._write([*self._gathered, original])
            self._gathered.clear()

    def __getitem__(self, number: int) -> OriginalPage:
        if number >= len(self._starts):
            return self._gathered[number - len(self._starts)]
        start = self._starts[number]
        end = self._starts[number + 1] if number + 1 < len(self._starts) else self._end
        try:
            return self._read(self._bytes(start, end), number)
        except BadCrawlDir:  # a line before the checkpoint from which the crawl resumed was damaged
            return _ILLEGIBLE

    def __len__(self) -> int:
        return len(self._starts) + len(self._gathered)

    def stored(self) -> Iterator[OriginalPage]:
        with trying_to("read", self._path), self._path.open("rb") as file:
            file.seek(self._end)
            for number, line in enumerate(file, start=len(self._starts)):
                try:
                    found = self._read(line, number)
                except BadCrawlDir as damage:
                    self._log.cut(self._end)
                    self._warn(f"{damage.place} is damaged: this line and all after it are rebuilt")
                    return
                self._starts.append(self._end)
                self._end += len(line)
                yield found

    def learned(self) -> Any:
        return self._starts, self._end

    def set_learned(self, learned: Any, last_url: str) -> None:
        starts, end = learned
        if starts:
            line = self._bytes(starts[-1], end)
            if not line.endswith(b"\n") or self._read(line, len(starts) - 1).url != last_url:
                raise Unfit(f"{self._path} has changed")
        self._starts, self._end = starts, end

    def close(self) -> None:
        self._log.close()
        os.close(self._file)

    def _write(self, originals: Sequence[OriginalPage]) -> None:
        lines = [orjson.dumps(written_original(each), option=orjson.OPT_APPEND_NEWLINE) for each in originals]
        self._log.append_lines(b"".join(lines))
        for line in lines:
            self._starts.append(self._end)
            self._end += len(line)

    def _bytes(self, start: int, end: int) -> bytes:
        with trying_to("read", self._path):
            return os.pread(self._file, end - start, start)

    def _read(self, line: bytes, number: int) -> OriginalPage:
        try:
            return _checked(read_original(orjson.loads(line)))
        except (ValueError, TypeError, AttributeError, BadBase64) as damage:
            raise unexpected(self._path, number + 1, damage) from None


def _checked(original: OriginalPage) -> OriginalPage:
    """The original. Raises ``ValueError`` for values that are not as ``OriginalPage`` says, since their readers trust them."""
    url, minima, *numbers, menu, terms, shingles, language, prose = _values_of(original)
    if not (
        isinstance(url, str)
        and url.find("/", 8) > 0
        and isinstance(language, str)
        and all(type(number) is int and 0 <= number < 1 << 64 for number in (*numbers, terms, shingles))
        and len(minima) == len(_ILLEGIBLE.minima)
        and len(menu) in (0, 64)
        and len(prose) in (0, 64)
    ):
        raise ValueError("not the sketch of a page")
    return original


class KeyTable:
    """A multimap in 64 hash tables with open addressing: 12 to 24 bytes per number.

    Only 38 bits of a key are kept, so ``find`` now and then returns numbers of another key: the caller checks them.
    Numbers are 0 to 2^32 - 2. Each table doubles separately when it is two thirds full, so that no addition takes long.
    """

    LEARNED: ClassVar[tuple[str, ...]] = ("_tables", "_taken")

    def __init__(self) -> None:
        self._tables = [array("Q", bytes(8 * _FIRST)) for _ in range(_TABLES)]
        self._taken = [0] * _TABLES

    def find(self, keys: list[int]) -> list[int]:
        """The numbers of each key in order of addition, one key after the other."""
        if key_slots is not None:
            return key_slots.find_all(self._tables, keys)
        return [number for key in keys for number in _find(self._tables[key >> 58], key & _NUMBER)]

    def add(self, keys: list[int], number: int) -> None:
        """Add a number to each key (0 to 2^64 - 1) that has fewer than ``PER_KEY`` numbers."""
        if key_slots is not None:
            key_slots.put_all(self._tables, self._taken, keys, number, PER_KEY)
            return
        for key in keys:
            which = key >> 58
            table = self._tables[which]
            if _put(table, key & _NUMBER, number, PER_KEY):
                self._taken[which] += 1
                if 3 * self._taken[which] > 2 * len(table):
                    self._tables[which] = _doubled(table)

    @property
    def size(self) -> int:
        """Bytes of memory."""
        return sum(table.itemsize * len(table) for table in self._tables)


def _find(table: array[int], tag: int) -> Iterator[int]:
    mask = len(table) - 1
    place = tag & mask
    while held := table[place]:
        if held >> 32 == tag:
            yield (held & _NUMBER) - 1
        place = (place + 1) & mask


def _put(table: array[int], tag: int, number: int, most: int) -> bool:
    """Add a number to a tag; False if the tag has ``most`` numbers already."""
    mask = len(table) - 1
    place = tag & mask
    same = 0
    while held := table[place]:
        same += held >> 32 == tag
        place = (place + 1) & mask
    if same >= most:
        return False
    table[place] = tag << 32 | number + 1
    return True


def _doubled(table: array[int]) -> array[int]:
    larger = array("Q", bytes(16 * len(table)))
    mask = len(larger) - 1
    start = next(place for place, held in enumerate(table) if not held)  # no run of taken places crosses it
    for held in (*table[start:], *table[:start]):
        if held:
            place = held >> 32 & mask
            while larger[place]:
                place = (place + 1) & mask
            larger[place] = held
    return larger
