"""The state of a journaled frontier after a crash at any moment."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.frontiersteps import url, waiting

from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.frontier.journal import JournaledFrontier
from crawlproject.frontier.memory import MemoryFrontier
from crawlproject.frontier.politeness import Politeness
from crawlproject.records import FIRST, PLANTED, REREADS, REVISITS, CrawlUrl
from crawlproject.urls.hosts import host_of

Step = tuple[Any, ...]
OPENING = 50.0  # time at which the frontier is opened after the crash


def memory(k: int = 3, commit: int = 1, max_urls: int = 0) -> MemoryFrontier:
    return MemoryFrontier(
        batch_size=k, commit=commit, max_urls=max_urls, politeness=Politeness(1.0, 1.0), random=Random(3)
    )


def opened(folder: Path, now: float = OPENING, slack: int = 2**24, **options: int) -> JournaledFrontier:
    return JournaledFrontier(memory(**options), folder, clock=lambda: now, slack=slack)


def journal_of(folder: Path) -> Path:
    return folder / "journal.jsonl"


def perform(frontier: MemoryFrontier | JournaledFrontier, step: Step, now: float) -> None:
    """Do one operation. The frontier's own state determines which lease ends, so that two equal frontiers do the same."""
    operation, *values = step
    leases = [address for address in ADDRESSES if frontier.leased(address)]
    match operation:
        case "put":
            frontier.put_many(values[0])
        case "page" if leases:
            with frontier.batch():
                frontier.put_many(values[0])
                frontier.done(leases[0], now, 0.25)
        case "take":
            frontier.take(now)
        case "release" if leases:
            frontier.release(leases[-1], now, 0.5, not_before=values[0], picked=values[1])
        case "drop" if leases:
            frontier.drop(leases[0])
        case "rescore":
            frontier.rescore(*values)
        case "crawl_delay":
            frontier.crawl_delay(*values)


def future(frontier: MemoryFrontier | JournaledFrontier, now: float) -> list[tuple[float, CrawlUrl]]:
    """The future output of a frontier: the URLs that it returns, in order, with their times."""
    seen = []
    while (due := frontier.next_due(now)) is not None:
        now = max(now, due)
        taken = frontier.take(now)
        assert taken is not None
        seen.append((now, taken))
        frontier.done(taken.url, now, 2.0)
    return seen


ADDRESSES = [f"http://h{host}.test/{page}" for host in range(5) for page in range(4)]
URLS = st.sampled_from(ADDRESSES)
SCORES = st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0, float("inf")])
RECORDS = st.lists(
    st.builds(
        CrawlUrl,
        URLS,
        SCORES,
        depth=st.integers(0, 3),
        parent=st.none() | URLS,
        anchor=st.text(max_size=5),
        not_before=st.sampled_from([0.0, 0.0, 20.0, 60.0]),
        inherited=st.sampled_from([(), (0.5, float("inf"))]),
        request=st.none() | st.just('{"method": "POST"}'),
    ),
    max_size=4,
)
STEPS = st.one_of(
    st.tuples(st.just("put"), RECORDS),
    st.tuples(st.just("page"), RECORDS),
    st.tuples(st.just("take")),
    st.tuples(st.just("take")),
    st.tuples(st.just("release"), st.sampled_from([0.0, 30.0]), st.booleans()),
    st.tuples(st.just("drop")),
    st.tuples(st.just("rescore"), URLS, SCORES),
    st.tuples(st.just("crawl_delay"), URLS.map(host_of), st.sampled_from([0.0, 5.0])),
)


def run_and_crash(folder: Path, steps: list[Step], cut: float, options: dict[str, int]) -> int:
    """Do the steps, then cut the journal at a byte after the summary; return the number of complete steps that remain."""
    frontier = opened(folder, now=0.0, **options)
    journal = journal_of(folder)
    ends = [journal.stat().st_size]
    for number, step in enumerate(steps):
        perform(frontier, step, float(number))
        ends.append(journal.stat().st_size)
    cut_at = ends[0] + round(cut * (ends[-1] - ends[0]))
    os.truncate(journal, cut_at)
    return max(number for number, end in enumerate(ends) if end <= cut_at)


@settings(max_examples=250, deadline=None)
@given(
    steps=st.lists(STEPS, max_size=40), cut=st.floats(0.0, 1.0), k=st.integers(1, 4), max_urls=st.sampled_from([0, 5])
)
def test_after_a_crash_every_whole_step_is_there_and_nothing_else(steps, cut, k, max_urls):
    options = {"k": k, "max_urls": max_urls}
    with tempfile.TemporaryDirectory() as name:
        whole = run_and_crash(Path(name), steps, cut, options)
        resumed = opened(Path(name), **options)
        twin = memory(**options)
        for number, step in enumerate(steps[:whole]):
            perform(twin, step, float(number))
        twin.recover(OPENING)
        assert set(resumed.waiting()) == set(twin.waiting())
        assert [address in resumed for address in ADDRESSES] == [address in twin for address in ADDRESSES]
        assert (len(resumed), resumed.hosts(), resumed.leases()) == (len(twin), twin.hosts(), 0)
        assert (resumed.evicted(), resumed.best()) == (twin.evicted(), twin.best())
        assert future(resumed, OPENING) == future(twin, OPENING)
        resumed.close()


@settings(max_examples=150, deadline=None)
@given(steps=st.lists(STEPS, max_size=40), restarts=st.sets(st.integers(0, 39)))
def test_summing_up_the_past_changes_nothing(steps, restarts):
    """Compare frequent summaries (slack 0) and orderly restarts with a frontier that stays in memory."""
    with tempfile.TemporaryDirectory() as name:
        frontier, twin = opened(Path(name), now=0.0, slack=0), memory()
        for number, step in enumerate(steps):
            perform(frontier, step, float(number))
            perform(twin, step, float(number))
            if number in restarts:
                frontier.close()
                frontier = opened(Path(name), now=float(number), slack=0)
                twin.recover(float(number))
        assert future(frontier, OPENING) == future(twin, OPENING)
        frontier.close()


@settings(max_examples=40, deadline=None)
@given(steps=st.lists(STEPS, max_size=30), cut=st.floats(0.0, 1.0), commit=st.sampled_from([2, 5]))
def test_a_commitment_loses_no_url_in_a_crash(steps, cut, commit):
    """A committed batch is in memory only: after a crash the frontier selects a new one."""
    with tempfile.TemporaryDirectory() as name:
        whole = run_and_crash(Path(name), steps, cut, {"commit": commit})
        resumed, twin = opened(Path(name), commit=commit), memory(commit=commit)
        for number, step in enumerate(steps[:whole]):
            perform(twin, step, float(number))
        twin.recover(OPENING)
        assert set(resumed.waiting()) == set(twin.waiting())
        assert len(future(resumed, OPENING)) == len(twin)
        resumed.close()


def test_leased_urls_wait_again_and_their_hosts_rest_from_the_opening_on(tmp_path):
    first = opened(tmp_path, now=0.0)
    first.crawl_delay("b.test", 7.0)
    first.put_many([url("a/1", 0.9), url("b/1", 0.8)])
    first.take(0.0)
    first.take(0.0)
    resumed = opened(tmp_path, now=100.0)  # the first was killed
    assert (len(resumed), resumed.leases()) == (2, 0)
    assert resumed.take(100.5) is None
    assert resumed.take(101.0) == url("a/1", 0.9)
    assert resumed.take(106.5) is None
    assert resumed.take(107.0) == url("b/1", 0.8)


def test_a_leased_url_keeps_its_place_in_line(tmp_path):
    frontier = opened(tmp_path, now=0.0)
    frontier.put_many([url("a/1", 0.5), url("b/1", 0.5), url("c/1", 0.5)])
    frontier.take(0.0)
    frontier.close()
    opened(tmp_path, now=1.0).close()
    resumed = opened(tmp_path, now=2.0, k=1)
    assert [resumed.take(10.0).url for _ in range(3)] == ["http://a.test/1", "http://b.test/1", "http://c.test/1"]


def test_a_page_is_there_with_all_its_links_or_not_at_all(tmp_path):
    frontier = opened(tmp_path, now=0.0)
    frontier.put(url("a/1"))
    taken = frontier.take(0.0)
    before = journal_of(tmp_path).stat().st_size
    with frontier.batch():
        for page in range(3):
            frontier.put(url(f"b/{page}"))
        frontier.done(taken.url, 1.0, 1.0)
        assert journal_of(tmp_path).stat().st_size == before
    written = journal_of(tmp_path).read_bytes()
    assert written[before:].count(b"\n") == 1
    for size in (len(written) - 1, before + 10, before):
        journal_of(tmp_path).write_bytes(written[:size])
        assert [record.url for record in opened(tmp_path).waiting()] == [taken.url]


def test_a_batch_that_raises_keeps_what_happened(tmp_path):
    frontier = opened(tmp_path, now=0.0)
    with pytest.raises(ZeroDivisionError), frontier.batch():
        frontier.put(url("a/1"))
        raise ZeroDivisionError
    frontier.put(url("a/2"))
    assert len(opened(tmp_path)) == 2


def test_the_journal_grows_with_the_frontier_not_with_the_crawl(tmp_path):
    frontier = opened(tmp_path, now=0.0, slack=4096)
    frontier.put(url("a/1"))
    for second in range(0, 4000, 2):
        frontier.release(frontier.take(float(second)).url, float(second), 0.0)
    assert journal_of(tmp_path).stat().st_size < 3 * 4096
    assert [record.url for record in opened(tmp_path).waiting()] == ["http://a.test/1"]


def test_resuming_again_and_again_does_not_grow_the_journal(tmp_path):
    frontier = opened(tmp_path, now=0.0)
    frontier.put_many(url(f"a/{page}") for page in range(50))
    frontier.close()
    size = journal_of(tmp_path).stat().st_size
    for second in range(5):
        opened(tmp_path, now=float(second)).close()
    assert journal_of(tmp_path).stat().st_size == size
    assert [path.name for path in tmp_path.iterdir()] == ["journal.jsonl"]


def test_a_smaller_limit_holds_from_the_next_opening_on(tmp_path):
    frontier = opened(tmp_path, now=0.0)
    frontier.put_many(url(f"a/{page}", float(page)) for page in range(10))
    frontier.close()
    resumed = opened(tmp_path, max_urls=3)
    assert sorted(record.score for record in resumed.waiting()) == [7.0, 8.0, 9.0]
    assert resumed.evicted() == 7


def test_half_characters_of_the_web_do_not_stop_the_journal(tmp_path):
    frontier = opened(tmp_path, now=0.0)
    frontier.put(url("a/1", anchor="half \ud83d pair", inherited=(0.5,)))
    assert list(opened(tmp_path).waiting()) == [url("a/1", anchor="half ? pair", inherited=(0.5,))]


# ---------------------------------------------------------------- a disk that fails


def fail_pwrite(monkeypatch: pytest.MonkeyPatch, written: int) -> None:
    """Simulate a disk that accepts ``written`` more bytes and is then full."""
    real = os.pwrite

    def pwrite(handle: int, data: bytes, offset: int) -> int:
        if written:
            return real(handle, data[:written], offset)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", pwrite)


@pytest.mark.parametrize("written", [0, 7])
def test_a_full_disk_names_the_file_and_spoils_nothing(tmp_path, monkeypatch, written):
    frontier = opened(tmp_path, now=0.0)
    frontier.put(url("a/1", 0.1))
    with monkeypatch.context() as patch:
        fail_pwrite(patch, written)
        with pytest.raises(StorageFailed, match=r"journal\.jsonl"):
            frontier.put(url("b/1", 0.2))
    assert frontier.take(0.0) == url("b/1", 0.2), "memory is unharmed, and what was refused is written now"
    assert {record.url for record in opened(tmp_path).waiting()} == {"http://a.test/1", "http://b.test/1"}


def test_a_disk_that_refuses_the_summary_leaves_the_journal(tmp_path, monkeypatch):
    frontier = opened(tmp_path, now=0.0)
    frontier.put(url("a/1"))

    def refuse(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        with pytest.raises(StorageFailed):
            frontier.close()
    assert len(opened(tmp_path)) == 1


def test_a_closed_frontier_takes_nothing_more(tmp_path):
    frontier = opened(tmp_path, now=0.0)
    frontier.close()
    with pytest.raises(StorageFailed, match="closed"):
        frontier.put(url("a/1"))


# ---------------------------------------------------------------- a damaged file


def damaged(folder: Path, number: int, line: bytes) -> str:
    """The message about a journal whose line ``number`` (from 1) is replaced by ``line``."""
    frontier = opened(folder, now=0.0)
    frontier.put_many([url("a/1"), url("a/2")])
    frontier.put(url("a/3"))
    lines = journal_of(folder).read_bytes().splitlines(keepends=True)
    lines[number - 1] = line + b"\n"
    journal_of(folder).write_bytes(b"".join(lines))
    with pytest.raises(BadCrawlDir) as caught:
        opened(folder)
    assert journal_of(folder).read_bytes() == b"".join(lines), "the evidence stays"
    return str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"{}",
        b"7",
        b"[7]",
        b"[[]]",
        b'[["fly", "http://a.test/1"]]',
        b'[["lease"]]',
        b'[["lease", "http://unknown.test/"]]',
        b'[["score", "http://unknown.test/", 1.0]]',
        b'[["wait", 7, 1.0, 0, null, "", 0.0, 0.0, [], null]]',
        b'[["wait", "http://a.test/9", "high", 0, null, "", 0.0, 0.0, [], null]]',
    ],
)
def test_a_damaged_line_is_named(tmp_path, line):
    message = damaged(tmp_path, 4, line)
    assert "journal.jsonl, line 4" in message


def test_it_ends_where_a_power_failure_left_zeros(tmp_path):
    """Later steps are lost: the URLs wait as before them."""
    frontier = opened(tmp_path, now=0.0)
    frontier.put_many(url(f"a/{page}") for page in range(3))
    frontier._journal.close()
    with journal_of(tmp_path).open("ab") as file:
        file.write(bytes(4096) + b'lease","http://a.test/0"]]\n[["end","http://a.test/1"]]\n')
    frontier = opened(tmp_path, now=0.0)
    assert len(frontier) == 3
    frontier.close()


def test_a_file_of_another_kind_is_named(tmp_path):
    assert "journal.jsonl, line 1" in damaged(tmp_path, 1, b'{"format": "something else"}')


@pytest.mark.parametrize("size", [0, 10, 60])
def test_a_file_cut_within_its_summary_is_not_taken_for_whole(tmp_path, size):
    frontier = opened(tmp_path, now=0.0)
    frontier.put_many(url(f"a/{page}") for page in range(20))
    frontier.close()
    os.truncate(journal_of(tmp_path), size)
    with pytest.raises(BadCrawlDir, match="journal"):
        opened(tmp_path)


def test_a_journal_of_an_earlier_version_has_the_classes_in_the_scores(tmp_path: Path) -> None:
    frontier = opened(tmp_path, now=0.0)
    scores = {"reread": 8e18, "revisit": 2e18 * 1.25, "first": 1e18, "planted": 2.5e17, "active": 0.5, "leased": 9e18}
    frontier.put_many(url(f"{name}/", score) for name, score in scores.items())
    assert (taken := frontier.take(0.0)) and taken.url == "http://leased.test/"
    frontier.rescore("http://active.test/", 1e18)
    frontier.rescore("http://active.test/", 0.25)
    written = journal_of(tmp_path).read_bytes()
    journal_of(tmp_path).write_bytes(written.replace(b'"version":2', b'"version":1'))
    expected = [
        url("active/", 0.25),
        url("first/", 0.0, precedence=FIRST),
        url("leased/", 0.0, precedence=REREADS),
        url("planted/", 0.0, precedence=PLANTED),
        url("reread/", 0.0, precedence=REREADS),
        url("revisit/", 0.25, precedence=REVISITS),
    ]
    for _ in range(2):  # the second time from a summary of this version
        assert waiting(opened(tmp_path)) == expected
