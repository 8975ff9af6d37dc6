"""URL-seen tests side by side (paper 004 section 2.3.2): seconds, memory and disk for a stream of links.

    python -m benchmarks.seen_urls [--urls 1e6 1e7] [--only NAME ...] [--folder DIR]

Compared are the table of this project (extendible hashing on disk, answers at once); a batched sort-merge as in Mercator and
IRLbot's DRUM (Lee, Leonard, Wang and Loguinov, WWW 2008), where keys wait in memory and are sorted and merged with a sorted file
when ``BUFFER`` bytes are full; and a Bloom filter of 10 bits a URL with 7 hashes. Every URL is linked twice on average; links
come in batches of 100, like those of a page. Each contender runs in a separate process. ``wrong``: new URLs reported as seen.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from crawlproject.frontier.disk.digest_numbers import DigestNumbers

NAMES = ("table", "drum", "bloom")
LINKS = 100  # of a page
MERGED = 500_000  # digests that are merged into the table at a time, enough to fill a journal of 32 MiB
BUFFER = 64 * 2**20  # bytes of keys that wait for a merge
Keys = npt.NDArray[np.uint64]


class Seen(Protocol):
    """A URL-seen test. ``ask`` returns the number of new keys, now or in a later call; ``end`` returns the rest."""

    def ask(self, keys: Keys) -> int: ...

    def end(self) -> int: ...


class Table:
    """The project's table of 16-byte digests; here the second half of a digest is computed from the first."""

    def __init__(self, folder: Path) -> None:
        self._numbers = DigestNumbers(folder / "seen")
        self._next = self._flushed = 0

    def ask(self, keys: Keys) -> int:
        new = {}
        for digest in np.column_stack((keys, keys * np.uint64(0x9E3779B97F4A7C15))).view("S16").ravel().tolist():
            digest = digest.ljust(16, b"\0")  # numpy strips trailing zeros
            if digest not in new and self._numbers.get(digest) is None:
                new[digest] = self._next
                self._next += 1
        self._numbers.update(new)
        if self._next - self._flushed > MERGED:
            self._flush()
        return len(new)

    def end(self) -> int:
        self._flush()
        self._numbers.close()
        return 0

    def _flush(self) -> None:
        """Flush as a frontier does when it compacts its journal, though the frontier uses a thread."""
        self._numbers.seal()
        self._numbers.flush()
        self._flushed = self._next


class Drum:
    """A sorted file of 8-byte keys, rewritten at each merge."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: list[Keys] = []
        self._bytes = 0
        self.merges = 0

    def ask(self, keys: Keys) -> int:
        self._waiting.append(keys)
        self._bytes += keys.nbytes
        return self._merge() if self._bytes >= BUFFER else 0

    def end(self) -> int:
        return self._merge() if self._waiting else 0

    def _merge(self) -> int:
        file, wanted = self._folder / "sorted", np.unique(np.concatenate(self._waiting))
        known = np.fromfile(file, np.uint64) if file.exists() else wanted[:0]
        places = np.searchsorted(known, wanted)
        is_new = np.ones(len(wanted), bool)
        inside = places < len(known)
        is_new[inside] = known[places[inside]] != wanted[inside]
        new, merged = wanted[is_new], np.insert(known, places[is_new], wanted[is_new])
        merged.tofile(file)
        self._waiting, self._bytes = [], 0
        self.merges += 1
        return len(new)


class Bloom:
    """A Bloom filter with Kirsch and Mitzenmacher's two hashes in place of seven."""

    def __init__(self, folder: Path, urls: int) -> None:
        self._bits = np.zeros(10 * urls // 8 + 1, np.uint8)

    def ask(self, keys: Keys) -> int:
        keys = np.unique(keys)
        step = keys * np.uint64(0x9E3779B97F4A7C15) | np.uint64(1)
        places = (keys[:, None] + np.arange(7, dtype=np.uint64) * step[:, None]) % np.uint64(8 * len(self._bits))
        at, mask = (places >> np.uint64(3)).astype(np.int64), (1 << (places & np.uint64(7))).astype(np.uint8)
        new = ((self._bits[at] & mask) == 0).any(axis=1)
        np.bitwise_or.at(self._bits, at[new].ravel(), mask[new].ravel())
        return int(new.sum())

    def end(self) -> int:
        return 0


def stream(urls: int) -> Iterator[Keys]:
    """Yield ``2 * urls`` links; every second one leads to a URL that was linked before, however long ago."""
    random = np.random.default_rng(2010)
    for first in range(0, urls, LINKS // 2):
        numbers = np.arange(first, min(urls, first + LINKS // 2), dtype=np.uint64)
        old = random.integers(0, first + len(numbers), len(numbers), dtype=np.uint64)
        yield _mixed(np.concatenate((numbers, old)))


def _mixed(numbers: Keys) -> Keys:
    """SplitMix64: map each number to a different one."""
    mixed = numbers * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def measure(name: str, urls: int, folder: Path) -> dict[str, object]:
    seen: Seen = Table(folder) if name == "table" else Drum(folder) if name == "drum" else Bloom(folder, urls)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    new = sum(map(seen.ask, stream(urls))) + seen.end()
    seconds = time.process_time() - start
    disk = sum(path.stat().st_blocks * 512 for path in folder.iterdir())
    return {
        "name": name, "urls": urls, "us_a_link": round(seconds / urls / 2 * 1e6, 2), "wrong": urls - new,
        "memory_a_url": round((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) * 1024 / urls, 1),
        "disk_a_url": round(disk / urls, 1), "merges": getattr(seen, "merges", 0),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--urls", type=float, nargs="+", default=[1e6, 1e7])
    parser.add_argument("--only", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--one", nargs=2, metavar=("NAME", "URLS"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
            print(json.dumps(measure(chosen.one[0], int(chosen.one[1]), Path(folder))))
        return
    for urls in map(int, chosen.urls):
        for name in chosen.only:
            own = ["--folder", str(chosen.folder)] if chosen.folder else []
            subprocess.run([sys.executable, "-m", "benchmarks.seen_urls", "--one", name, str(urls), *own], check=True)


if __name__ == "__main__":
    main()
