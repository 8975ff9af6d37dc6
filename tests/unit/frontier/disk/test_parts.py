"""The parts of the frontier on disk against their models: a dict, a heap, a list of lines."""

from __future__ import annotations

import heapq
import math
from hashlib import md5
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlproject.errors import BadCrawlDir
from crawlproject.frontier.disk import hash_table
from crawlproject.frontier.disk.hash_table import HashTable
from crawlproject.frontier.disk.journal import DiskJournal, Frame, Summary
from crawlproject.frontier.disk.spill_file import SpillFile
from crawlproject.frontier.disk.spilled_queue import SpilledQueue
from crawlproject.frontier.disk.url_records import UrlRecords
from crawlproject.frontier.disk.url_table import (
    CLASS_BITS,
    DONE,
    NUMBERED_ROW,
    PAGED,
    SHARED,
    UrlRow,
    UrlTable,
    classes_of,
    states_of,
)
from crawlproject.records import ACTIVE, WASTE, CrawlUrl


def digest(number: int) -> bytes:
    return md5(str(number).encode()).digest()


# ---------------------------------------------------------------- the hash table


def merge(table: HashTable, numbers: dict[bytes, int]) -> None:
    memtable = hash_table.new_memtable()
    memtable.update(numbers)
    table.merge(memtable)


@pytest.mark.usefixtures("each_way")
def test_a_table_finds_what_was_set_and_nothing_else(tmp_path: Path) -> None:
    table = HashTable(tmp_path / "t")
    for start in range(0, 30_000, 100):
        assert table.get(digest(start + 99)) is None
        merge(table, {digest(number): number for number in range(start, start + 100)})
    merge(table, {digest(number): number + 100_000 for number in range(0, 30_000, 7)})
    again = HashTable(tmp_path / "t")
    for found in (table, again):
        assert all(found.get(digest(n)) == (n + 100_000 if n % 7 == 0 else n) for n in range(30_000))
        assert all(found.get(digest(n)) is None for n in range(30_000, 40_000))
    merge(again, {digest(30_000): 5})
    assert again.get(digest(30_000)) == 5


@pytest.mark.usefixtures("each_way")
def test_keys_that_crowd_in_one_place_and_run_over_its_end_are_found(tmp_path: Path) -> None:
    """Digests whose home is one of the last slots of a segment wrap around to its beginning."""
    table = HashTable(tmp_path / "t")
    random = Random(1)
    homes = [(random.getrandbits(40) << 36 | (4095 - random.randrange(3)) << 24 | n) % 2**64 for n in range(6000)]
    keys = [home.to_bytes(8, "little") + random.randbytes(8) for home in homes]
    merge(table, {key: number for number, key in enumerate(keys[:3000])})
    merge(table, {key: number for number, key in enumerate(keys) if number >= 2000})
    assert [table.get(key) for key in keys] == list(range(6000))
    again = HashTable(tmp_path / "t")
    assert [again.get(key) for key in keys] == list(range(6000))


@pytest.mark.usefixtures("each_way")
def test_88_bits_are_compared(tmp_path: Path) -> None:
    table = HashTable(tmp_path / "t")
    merge(table, {bytes(16): 1})
    assert table.get(bytes(8) + b"\1" + bytes(7)) is None
    assert table.get(bytes(7) + b"\1" + bytes(8)) is None
    assert table.get(bytes(10) + b"\1" + bytes(5)) is None


@pytest.mark.usefixtures("each_way")
def test_a_closed_table_answers_nothing(tmp_path: Path) -> None:
    table = HashTable(tmp_path / "table")
    merge(table, {bytes(16): 1})
    table.close()
    with pytest.raises(IndexError):
        table.get(bytes(16))
    with pytest.raises(IndexError):
        merge(table, {bytes(16): 2})


def test_headers_with_other_bits_are_named_and_raise_nothing_else(tmp_path: Path) -> None:
    """Damaged headers used to raise ``IndexError``, or to request more memory than there is."""
    table = HashTable(tmp_path / "t")
    merge(table, {digest(number): number for number in range(20_000)})
    table.close()
    headers, damaged = (tmp_path / "t.map").read_bytes(), 0
    for place in range(6):
        for bit in range(64):
            spoiled = bytearray(headers)
            spoiled[8 * place + bit // 8] ^= 1 << bit % 8
            (tmp_path / "t.map").write_bytes(spoiled)
            try:
                HashTable(tmp_path / "t", readonly=True).close()
            except BadCrawlDir as damage:
                assert "t.map" in str(damage) and "makes it again" in str(damage)
                damaged += 1
    assert damaged > 150


@pytest.mark.usefixtures("each_way")
@pytest.mark.parametrize("step", range(1, 6))
def test_a_split_that_was_killed_at_any_store_leaves_the_table_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """A split fills two halves, marks both, and retires the original segment: five stores in this order."""
    table = HashTable(tmp_path / "t")
    stores = 0

    def counted(name: str) -> None:
        real = getattr(HashTable, name)

        def store(self: HashTable, *arguments: object) -> None:
            nonlocal stores
            stores += 1
            if stores == step:
                raise KeyboardInterrupt
            real(self, *arguments)

        monkeypatch.setattr(HashTable, name, store)

    counted("_fill")
    counted("_mark")
    kept = 0
    with pytest.raises(KeyboardInterrupt):
        for kept in range(4000):
            merge(table, {digest(kept): kept})
    monkeypatch.undo()
    again = HashTable(tmp_path / "t")
    assert kept > 2000 and all(again.get(digest(number)) == number for number in range(kept))
    merge(again, {digest(number): number for number in range(kept, 12_000)})
    assert all(again.get(digest(number)) == number for number in range(12_000))


# ---------------------------------------------------------------- the lines


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["put", "put", "die", "pop"]), st.integers(0, 30), st.integers(0, 40)), max_size=300
    )
)
def test_a_spilled_line_is_a_heap_whose_items_may_die(tmp_path_factory: pytest.TempPathFactory, steps: list) -> None:
    alive: dict[int, float] = {}

    def stands(entry: tuple[float, int]) -> bool:
        return alive.get(entry[1]) == entry[0]

    def many(ranks: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        return np.array([stands(entry) for entry in zip(ranks.tolist(), numbers.tolist(), strict=True)], bool)

    file = SpillFile(tmp_path_factory.mktemp("spill") / "lines")
    line = SpilledQueue(file, stands, many, limit=2, chunk=2)
    for kind, rank, number in steps:
        best = min(((score, name) for name, score in alive.items()), default=None)
        assert line.first() == best
        if kind == "put" and number not in alive:
            alive[number] = float(rank)
            line.push((float(rank), number))
        elif kind == "die" and number in alive:
            del alive[number]
            line.died()
        elif kind == "pop" and best:
            assert line.pop() == best
            del alive[best[1]]
    model = [(score, name) for name, score in alive.items()]
    heapq.heapify(model)
    while model:
        entry = heapq.heappop(model)
        assert line.pop() == entry
        del alive[entry[1]]
    assert line.pop() is None
    file.close()


def test_a_line_keeps_its_best_whatever_the_ranks(tmp_path: Path) -> None:
    file = SpillFile(tmp_path / "lines")
    line = SpilledQueue(file, lambda entry: True, lambda ranks, numbers: np.ones(len(ranks), bool), limit=3, chunk=1)
    ranks = [math.inf, -math.inf, 0.0, -0.0, 1e-300, -1e300, 5.0, 5.0]
    for number, rank in enumerate(ranks):
        line.push((rank, number))
    line.load(np.array([4.0, -2.0]), np.array([100, 101]))
    taken = [line.pop() for _ in range(10)]
    assert taken == sorted([*zip(ranks, range(8), strict=True), (4.0, 100), (-2.0, 101)])


def test_a_line_does_not_grow_with_scores_that_change(tmp_path: Path) -> None:
    """After 100,000 changes of 100 URLs, dead entries are removed in memory and on disk."""
    scores: dict[int, float] = {}
    file = SpillFile(tmp_path / "lines")

    def many(ranks: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        return np.array([scores[n] == r for r, n in zip(ranks.tolist(), numbers.tolist(), strict=True)], bool)

    line = SpilledQueue(file, lambda entry: scores.get(entry[1]) == entry[0], many, limit=16, chunk=4)
    random = Random(3)
    for _ in range(100_000):
        number = random.randrange(100)
        if number in scores:
            scores[number] = math.nan
            line.died()
        scores[number] = random.random()
        line.push((scores[number], number))
    assert file.size() < 200_000
    assert [line.pop() for _ in range(100)] == sorted((score, number) for number, score in scores.items())


# ---------------------------------------------------------------- records, rows, journal


@pytest.mark.parametrize(
    "record",
    [
        CrawlUrl("http://a.test/", 0.5),
        CrawlUrl("http://a.test/", 0.5, context_score=0.25),
        CrawlUrl("http://a.test/", 0.5, 3, "http://b.test/", "Grüße ", math.inf),
        CrawlUrl("http://a.test/", 0.5, 3, "http://b.test/", "x", 0.1, 0.0, (0.5, -math.inf), '{"method": "POST"}'),
        CrawlUrl("http://a.test/", 0.5, anchor="long " * 5000),
    ],
)
def test_a_record_comes_back_written_or_not(tmp_path: Path, record: CrawlUrl) -> None:
    file = UrlRecords(tmp_path)
    file.add(CrawlUrl("http://first.test/", 0.0))
    offset = file.add(record)
    assert file.load(offset, 0.5, 0.0) == record
    file.write()
    assert file.load(offset, 0.5, 0.0) == record
    assert file.url(offset) == record.url


def test_half_a_surrogate_becomes_text(tmp_path: Path) -> None:
    file = UrlRecords(tmp_path)
    offset = file.add(CrawlUrl("http://a.test/", 0.5, 1, None, "x\ud800y"))
    file.write()
    assert file.load(offset, 0.5, 0.0).anchor == "x?y"


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    (tmp_path / "urls.jsonl").write_text('["http://a.test/"\n')
    with pytest.raises(BadCrawlDir, match=r"urls\.jsonl, byte 0: expected a record of a URL"):
        UrlRecords(tmp_path).url(0)


def test_rows_are_changed_when_they_are_applied(tmp_path: Path) -> None:
    rows = UrlTable(tmp_path / "rows")
    rows[70_000] = UrlRow(0.5, 10, 3, SHARED)
    rows[5] = UrlRow(0.25, 20, 4, DONE)
    assert rows[70_000].host == 3
    rows.apply(rows.pack())
    rows[5] = UrlRow(1.0, 20, 4, DONE)
    again = UrlTable(tmp_path / "rows", readonly=True)
    assert again[70_000] == UrlRow(0.5, 10, 3, SHARED) and again[5].score == 0.25
    numbers = np.array([5, 6, 70_000])
    assert rows.match_many(numbers, np.array([7.0, 0.0, 0.5]), (SHARED,)).tolist() == [True, False, True]
    assert again.match_many(numbers, np.array([0.25, 0.0, 0.5]), (SHARED,)).tolist() == [False, False, True]


@pytest.mark.parametrize("precedence", range(WASTE + 1))
def test_a_row_has_a_state_and_a_class(tmp_path: Path, precedence: int) -> None:
    rows = UrlTable(tmp_path / "rows")
    rows[5] = UrlRow(0.5, 20, 4, SHARED | CLASS_BITS[precedence])
    rows.set_state(5, PAGED)
    assert (rows[5].state, rows[5].precedence) == (PAGED, precedence)
    assert rows.matches(5, 0.5, PAGED | CLASS_BITS[precedence])
    assert not rows.matches(5, 0.5, PAGED | CLASS_BITS[(precedence + 1) % 10])
    rows.apply(rows.pack())
    rows.set_states(np.array([5]), SHARED)
    assert (rows[5].state, rows[5].precedence) == (SHARED, precedence)
    row = rows.many(np.array([5]))
    assert (states_of(row).tolist(), classes_of(row).tolist()) == ([SHARED], [precedence])
    found = [rows.match_many(np.array([5]), None, (SHARED,), other).tolist() for other in range(WASTE + 1)]
    assert found == [[other == precedence] for other in range(WASTE + 1)]
    assert CLASS_BITS[ACTIVE] == 0, "rows of earlier versions"


def test_frames_come_back_in_order_across_the_pieces_of_the_file(tmp_path: Path) -> None:
    journal = DiskJournal(tmp_path)
    journal.begin(Summary())
    frames = [
        Frame(
            {n: UrlRow(n / 7, n, n, SHARED) for n in range(size)},
            {digest(size): size},
            {digest(-size): 1},
            size,
            [["pick", 1]],
        )
        for size in (1, 0, 30_000, 5, 60_000)
    ]
    for frame in frames:
        packed = b"".join(NUMBERED_ROW.pack(number, *row) for number, row in frame.rows.items())
        journal.append(packed, frame.urls, frame.hosts, frame.urls_end, frame.notes)
    journal.close()
    assert list(DiskJournal(tmp_path).frames()) == frames
