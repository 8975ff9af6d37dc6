"""The compiled parts of the frontier on disk give the same results as their Python versions, to the bit."""

from __future__ import annotations

import itertools
import math
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.frontiersteps import Driver, random_steps, waiting

from crawlproject.errors import StorageFailed
from crawlproject.frontier.disk import hash_table, spill_file, spilled_queue, url_table
from crawlproject.frontier.disk.frontier import DiskFrontier
from crawlproject.frontier.disk.mapped_file import MemoryLimits
from crawlproject.frontier.disk.spill_file import ENTRY, PlainEntryHeap, SpillFile
from crawlproject.frontier.disk.spilled_queue import SpilledQueue
from crawlproject.frontier.disk.url_table import CLASS_BITS, DONE, LATER, PAGED, SHARED, WAITING, UrlTable
from crawlproject.frontier.politeness import Politeness
from crawlproject.records import WASTE

packed_heap = pytest.importorskip("crawlproject.frontier.disk.packed_heap", reason="not compiled")
ROWS = {
    number: (number / 7, number << 33, number, 1 + number % 7 | CLASS_BITS[number % 3 + 3])
    for number in (5, 0, 70_000, 65_535, 65_536, 6)
}

ranks = st.sampled_from([-math.inf, -1.0, 0.5, 1e300, math.inf]) | st.floats(allow_nan=False).filter(bool)


def without_compiled_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hash_table, "hash_slots", None)
    monkeypatch.setattr(url_table, "url_rows", None)
    monkeypatch.setattr(spilled_queue, "EntryHeap", spill_file.PlainEntryHeap)


# ---------------------------------------------------------------- the heap


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(ranks, st.integers(-(2**62), 2**62))),
    st.lists(st.tuples(ranks, st.integers(0, 5)) | st.sampled_from(["pop", "packed"]), max_size=200),
)
def test_both_heaps_give_the_same(entries: list[tuple[float, int]], steps: list[Any]) -> None:
    compiled, plain = packed_heap.PackedHeap(entries), PlainEntryHeap(entries)
    for step in steps:
        if step == "packed":
            packed = compiled.packed()
            assert packed == plain.packed()
            assert [*ENTRY.iter_unpack(packed)] == sorted(ENTRY.iter_unpack(packed))
        elif step != "pop":
            assert compiled.push(step) == plain.push(step)
        elif plain:
            compiled.pop()
            plain.pop()
        assert compiled.first() == plain.first()
        assert len(compiled) == len(plain)
        assert sorted(compiled.entries()) == sorted(plain.entries())


@pytest.mark.parametrize("heap", [packed_heap.PackedHeap, PlainEntryHeap])
def test_an_empty_heap_has_no_first_entry(heap: type[PlainEntryHeap]) -> None:
    assert heap().first() is None
    assert heap().packed() == b""
    with pytest.raises(IndexError):
        heap().pop()


@pytest.mark.parametrize("heap", [packed_heap.PackedHeap, PlainEntryHeap])
def test_a_disk_that_refuses_new_entries_loses_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, heap: type[PlainEntryHeap]
) -> None:
    monkeypatch.setattr(spilled_queue, "EntryHeap", heap)
    file = SpillFile(tmp_path / "lines")
    line = SpilledQueue(file, lambda entry: True, lambda ranks, numbers: np.ones(len(ranks), bool), limit=4, chunk=1)
    refused = 0
    for number in range(20):
        with monkeypatch.context() as full:
            if number % 3:
                full.setattr(SpillFile, "write", refuse)
            try:
                line.push((-float(number), number))
            except StorageFailed:
                refused += 1
    assert refused
    assert [line.pop() for _ in range(20)] == [(-float(number), number) for number in reversed(range(20))]
    file.close()


def refuse(file: SpillFile, data: bytes) -> int:
    raise StorageFailed("the disk is full")


# ---------------------------------------------------------------- the rows


def written(folder: Path, rows: dict[int, tuple[float, int, int, int]]) -> tuple[UrlTable, bytes]:
    """A table with these rows in its file, and these rows packed."""
    table = UrlTable(folder / "rows")
    table.changed.update(rows)
    packed = table.pack()
    table.apply(packed)
    return table, packed


def test_rows_are_packed_and_written_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain").mkdir()
    _, compiled = written(tmp_path, ROWS)
    without_compiled_parts(monkeypatch)
    _, plain = written(tmp_path / "plain", ROWS)
    assert compiled == plain
    assert (tmp_path / "rows").read_bytes() == (tmp_path / "plain" / "rows").read_bytes()


def test_rows_are_compared_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, _ = written(tmp_path, ROWS)
    table.changed |= {6: (0.25, 1, 1, DONE), 70_000: (0.0, 1, 1, PAGED)}
    numbers = np.array([*ROWS, 7, 200_000, 6, 5])
    scores = np.array([number / 7 for number in ROWS] + [0.0, 0.0, 0.25, 9.0])

    def answers() -> list[Any]:
        many = [
            table.match_many(numbers, scores if scored else None, states, precedence).tolist()
            for scored in (True, False)
            for states in (WAITING, (SHARED,), (LATER, DONE), (0,))
            for precedence in (None, *range(WASTE + 1))
        ]
        one = [
            table.matches(number, score, state | bits)
            for number, score in zip(numbers.tolist(), scores.tolist(), strict=True)
            for state in range(8)
            for bits in CLASS_BITS
            if number < table.capacity()
        ]
        return [many, one]

    compiled = answers()
    without_compiled_parts(monkeypatch)
    assert compiled == answers()


# ---------------------------------------------------------------- the whole


@pytest.mark.parametrize("limits", [MemoryLimits(), MemoryLimits(shared=3, host=2, crowd=1, hosts=4)], ids=str)
@pytest.mark.parametrize("options", [{}, {"commit": 5}, {"max_urls": 40}], ids=str)
@pytest.mark.parametrize("classes", [0.0, 0.05])
def test_a_frontier_takes_and_writes_the_same_without_compiled_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, int], limits: MemoryLimits, classes: float
) -> None:
    monkeypatch.setattr(os, "urandom", lambda size: bytes(range(size)))  # the seed of the digests

    def run(folder: Path) -> list[Any]:
        frontier = DiskFrontier(
            folder, politeness=Politeness(1.0, 0.5), random=Random(3), clock=lambda: 0.0, limits=limits, **options
        )
        driver = Driver(frontier)
        answers = [driver.do(step) for step in itertools.islice(random_steps(11, floors=0.02, classes=classes), 2500)]
        found = [answers, waiting(frontier)]
        frontier.close()
        found += [(folder / name).read_bytes() for name in ("urls.jsonl.zst", "rows", "times")]
        # Digests that share a home slot may be in any order.
        return found + [sorted(struct.iter_unpack("<QQ", (folder / name).read_bytes())) for name in ("seen", "hosts")]

    compiled = run(tmp_path / "compiled")
    without_compiled_parts(monkeypatch)
    plain = run(tmp_path / "plain")
    assert [part == other for part, other in zip(compiled, plain, strict=True)] == [True] * len(plain)


# ---------------------------------------------------------------- a disk that takes nothing

TAKES_NOTHING = """
#include <sys/types.h>
ssize_t pwrite(int file, const void *data, size_t size, off_t place) { return 0; }
ssize_t pwrite64(int file, const void *data, size_t size, off_t place) { return 0; }
"""
MERGE = """
import sys
from pathlib import Path
from crawlproject.errors import StorageFailed
from crawlproject.frontier.disk import mapped_file
from crawlproject.frontier.disk.hash_table import HashTable, new_memtable
mapped_file.MappedFile.write = lambda *_: None  # of the first segment, by Python
table, memtable = HashTable(Path(sys.argv[1])), new_memtable()
memtable.update({bytes(16): 1})
try:
    table.merge(memtable)
except StorageFailed as failure:
    print(failure)
"""


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_a_disk_that_takes_nothing_and_gives_no_reason_is_full(tmp_path: Path) -> None:
    (tmp_path / "full.c").write_text(TAKES_NOTHING)
    library = tmp_path / "full.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "full.c"], check=True)
    done = subprocess.run(
        [sys.executable, "-c", MERGE, tmp_path / "seen"],
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        timeout=10,
        check=True,
    )
    assert done.stdout == f"cannot write to {tmp_path / 'seen'}: [Errno 28] No space left on device\n"
