"""The frontier on disk: equal to the frontier in memory, step by step, and intact after ``kill -9``."""

from __future__ import annotations

import gc
import itertools
import math
import mmap
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from support.frontiersteps import Driver, Pair, facts, random_steps, url, waiting

from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.frontier.base import Frontier
from crawlproject.frontier.disk.frontier import DiskFrontier
from crawlproject.frontier.disk.mapped_file import MemoryLimits
from crawlproject.frontier.journal import JournaledFrontier
from crawlproject.frontier.memory import MemoryFrontier
from crawlproject.frontier.politeness import Politeness
from crawlproject.frontier.views.open import clear_frontier, read_frontier
from crawlproject.frontier.views.view import best_waiting
from crawlproject.records import ACTIVE, FIRST, INACTIVE, OVER_BUDGET, PLANTED, REREADS, REVISITS, WASTE, CrawlUrl

if TYPE_CHECKING:
    from conftest import Earlier

ROOT = Path(__file__).resolve().parents[3]
TIGHT = MemoryLimits(shared=3, host=2, crowd=1, hosts=4)  # so that a few URLs exceed the limits
RULES = list(itertools.product([1, 3, 50], [1, 5], [0, 40]))
SHARES = [(0.0, 0.0), (0.05, 0.0), (0.0, 0.1), (0.03, 0.1)]  # shares of the steps that set floors, and classes


def memory(k: int = 50, commit: int = 1, max_urls: int = 0) -> MemoryFrontier:
    politeness = Politeness(1.0, 0.5)
    return MemoryFrontier(batch_size=k, commit=commit, max_urls=max_urls, politeness=politeness, random=Random(3))


def disk(
    folder: Path, now: float = 0.0, k: int = 50, commit: int = 1, max_urls: int = 0, **options: Any
) -> DiskFrontier:
    return DiskFrontier(
        folder,
        batch_size=k,
        commit=commit,
        max_urls=max_urls,
        politeness=Politeness(1.0, 0.5),
        random=Random(3),
        clock=lambda: now,
        **options,
    )


def urls(number: int, start: int = 0) -> list[CrawlUrl]:
    return [CrawlUrl(f"http://h{i % 97}.test/{i}", (i * 7919 % 1000) / 1000) for i in range(start, start + number)]


# ---------------------------------------------------------------- side by side


@pytest.mark.parametrize("limits", [MemoryLimits(), TIGHT], ids=["roomy", "tight"])
@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize(("floors", "classes"), SHARES)
def test_memory_and_disk_take_the_same_through_random_steps(
    tmp_path: Path, floors: float, classes: float, rules: tuple[int, int, int], limits: MemoryLimits
) -> None:
    """The cases amount to 96,000 steps."""
    one, other = memory(*rules), disk(tmp_path, 0.0, *rules, limits=limits)
    pair = Pair(one, other, commit=rules[1])
    for step in itertools.islice(random_steps(hash(rules), floors=floors, classes=classes), 1000):
        pair.do(step)
    assert waiting(one) == waiting(other)
    other.close()


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize(("floors", "classes"), SHARES)
def test_many_whose_time_comes_together_go_the_same_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, floors: float, classes: float, rules: tuple[int, int, int]
) -> None:
    """They move from the calendar into the other queues as a batch; in this test two suffice for a batch."""
    monkeypatch.setattr("crawlproject.frontier.disk.host_paging._FEW", 1)
    pair = Pair(memory(*rules), disk(tmp_path, 0.0, *rules, limits=TIGHT), commit=rules[1])
    for step in itertools.islice(random_steps(hash(rules) + 1, floors=floors, classes=classes), 1000):
        pair.do(step)
    pair.other.frontier.close()


@pytest.mark.parametrize("closed", [True, False], ids=["closed", "killed"])
@pytest.mark.parametrize("classes", [0.0, 0.1])
def test_a_reopened_frontier_continues_as_the_journaled_one_does(tmp_path: Path, closed: bool, classes: float) -> None:
    def reopened(now: float) -> tuple[Frontier, Frontier]:
        return JournaledFrontier(memory(3), tmp_path / "m", clock=lambda: now), disk(
            tmp_path / "d", now, 3, limits=TIGHT
        )

    pair = reopened(0.0)
    now = 0.0
    one, other = map(Driver, pair)
    for number, step in enumerate(itertools.islice(random_steps(7, classes=classes), 3000)):
        now = step.arguments[0] if step.name == "next_due" else now
        answers = one.do(step), other.do(step)
        assert answers[0] == answers[1] or (classes and step.name == "next_due"), (number, step)
        if number % 331 == 330:
            if closed:
                for frontier in pair:
                    frontier.close()
            pair = reopened(now)
            one, other = map(Driver, pair)
            assert waiting(one.frontier) == waiting(other.frontier)
            assert facts(one.frontier, now) == facts(other.frontier, now)


def test_with_more_held_urls_than_are_looked_at_it_may_be_asked_too_early_but_never_too_late(tmp_path: Path) -> None:
    """The host of the first held URLs is blocked: the next due URL is behind more of them than the frontier looks at."""
    limits = MemoryLimits(shared=3, host=2, crowd=1, hosts=4, ahead=5)
    frontier, now, asked = disk(tmp_path, limits=limits), 0.0, 0
    frontier.put_many(CrawlUrl(f"http://blocked.test/{i}", 0.9, not_before=10.0 + i) for i in range(40))
    frontier.put(CrawlUrl("http://free.test/", 0.1, not_before=90.0))
    frontier.block_host("blocked.test", 1000.0)
    while frontier.take(now) is None:
        due = frontier.next_due(now)
        assert due is not None and now < due <= 90.0
        now, asked = due, asked + 1
    assert now == 90.0 and asked > 1
    assert frontier.next_due(now) == 1000.0, "what has ripened is no longer looked for"
    frontier.close()


def test_held_urls_of_an_earlier_version_stay_held(tmp_path: Path, earlier: Earlier) -> None:
    """That version had no file of times, and kept the times in the summary of the journal."""
    with earlier(tmp_path, 1):
        frontier = disk(tmp_path)
        frontier.put_many([CrawlUrl("http://a.test/", 0.9, not_before=50.0), CrawlUrl("http://b.test/", 0.1)])
        frontier.close()
    state = orjson.loads((tmp_path / "state.json").read_bytes())
    assert state["later"] == []
    del state["sizes"]["times"]
    (tmp_path / "state.json").write_bytes(orjson.dumps({**state, "later": [[0, 50.0]]}))
    (tmp_path / "times").unlink()
    view = read_frontier(tmp_path)
    assert view is not None and view.find("http://a.test/")[1] == CrawlUrl("http://a.test/", 0.9, not_before=50.0)
    for due in (0.0, 50.0):
        frontier = disk(tmp_path)
        assert frontier.next_due(0.0) == due
        frontier.hold("http://b.test/", 60.0)
        assert (frontier.take(49.0), frontier.next_due(49.0)) == (None, 50.0)
    frontier.close()


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("closed", [True, False], ids=["closed", "killed"])
def test_an_earlier_version_has_the_classes_in_the_scores(
    tmp_path: Path, closed: bool, version: int, earlier: Earlier
) -> None:
    scores = {"reread": 8e18, "revisit": 2e18 * 1.25, "first": 1e18, "planted": 2.5e17, "active": 0.5, "leased": 9e18}
    with earlier(tmp_path, version):
        frontier = disk(tmp_path)
        frontier.put_many(url(f"{name}/", score) for name, score in scores.items())
        frontier.hold("http://first.test/", 60.0)
        assert (taken := frontier.take(0.0)) and taken.url == "http://leased.test/"
        if closed:
            frontier.close()
    expected = [
        url("active/", 0.5),
        url("first/", 0.0, precedence=FIRST, not_before=60.0),
        url("leased/", 0.0, precedence=REREADS),
        url("planted/", 0.0, precedence=PLANTED),
        url("reread/", 0.0, precedence=REREADS),
        url("revisit/", 0.25, precedence=REVISITS),
    ]
    view = read_frontier(tmp_path)
    assert view is not None
    assert sorted([*view.waiting(), *view.leased()], key=lambda record: record.url) == expected
    for _ in range(2):  # the second time from a summary of this version
        frontier = disk(tmp_path)
        assert waiting(frontier) == expected
        assert frontier.best() == 0.0
        frontier.close()
    view = read_frontier(tmp_path)
    assert view is not None
    assert [record.url for record in best_waiting(view, 3)] == [
        f"http://{name}.test/" for name in ("reread", "leased", "revisit")
    ]


@pytest.mark.parametrize("closed", [True, False], ids=["closed", "killed"])
def test_the_records_of_an_earlier_version_are_read_where_they_are(
    tmp_path: Path, closed: bool, earlier: Earlier
) -> None:
    """That version wrote plain records into a file that keeps its name; new records are compressed."""
    before, after = urls(300), urls(300, start=300)
    with earlier(tmp_path, 3):
        frontier = disk(tmp_path)
        frontier.put_many(before)
        taken = frontier.take(0.0)
        assert taken is not None
        frontier.done(taken.key, 0.0, 0.1)
        if closed:
            frontier.close()
    left = sorted({*before} - {taken}, key=lambda record: record.key)
    view = read_frontier(tmp_path)
    assert view is not None and sorted(view.waiting(), key=lambda record: record.key) == left
    lines = (tmp_path / "urls.jsonl").read_bytes()
    for new in (after, []):  # the second time from a summary of this version
        frontier = disk(tmp_path)
        frontier.put_many(new)
        assert waiting(frontier) == sorted({*left, *after}, key=lambda record: record.key)
        assert taken.key in frontier
        frontier.close()
    assert (tmp_path / "urls.jsonl").read_bytes() == lines
    assert 0 < (tmp_path / "urls.jsonl.zst").stat().st_size < len(lines) / 3
    (tmp_path / "urls.jsonl").write_bytes(lines[:-9])
    with pytest.raises(BadCrawlDir, match=r"urls\.jsonl, byte \d+: cut"):
        disk(tmp_path)
    clear_frontier(tmp_path)
    assert not [*tmp_path.iterdir()]


def test_scores_of_this_version_stand_for_themselves(tmp_path: Path) -> None:
    frontier = disk(tmp_path)
    records = [url("a/", 1e18), url("b/", math.inf), url("c/", 9e18, precedence=OVER_BUDGET)]
    frontier.put_many(records)
    for _ in range(2):
        frontier = disk(tmp_path)
        assert waiting(frontier) == records
        frontier.close()


@pytest.mark.parametrize("damage", ["removed", "emptied", "cut"])
def test_a_file_of_times_that_was_lost_is_named(tmp_path: Path, damage: str) -> None:
    """Otherwise all held URLs would be taken at once."""
    frontier = disk(tmp_path)
    frontier.put(CrawlUrl("http://a.test/", 0.9, not_before=50.0))
    frontier.close()
    path = tmp_path / "times"
    if damage == "removed":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[: 100 if damage == "cut" else 0])
    with pytest.raises(BadCrawlDir, match="times"):
        disk(tmp_path)


@pytest.mark.parametrize("where", ["memory", "disk"])
def test_what_is_above_the_ceiling_waits_for_hosts_of_other_frontiers(tmp_path: Path, where: str) -> None:
    frontier = memory() if where == "memory" else disk(tmp_path)
    frontier.put_many([CrawlUrl("http://a.test/", 0.2), CrawlUrl("http://b.test/", 0.1)])
    frontier.set_floor(0.5)
    frontier.set_ceiling(ACTIVE)
    assert frontier.lowest_awake() == INACTIVE
    frontier.set_awake_elsewhere(ACTIVE)
    assert (frontier.take(0.0), frontier.next_due(0.0)) == (None, None)
    frontier.put(CrawlUrl("http://c.test/", 0.9))
    assert frontier.take(0.0) == CrawlUrl("http://c.test/", 0.9), "nothing better is elsewhere"
    frontier.done("http://c.test/", 0.0, 0.0)
    frontier.set_awake_elsewhere(WASTE)
    assert frontier.take(0.0) == CrawlUrl("http://a.test/", 0.2)
    frontier.set_awake_elsewhere(None)
    assert frontier.take(0.0) == CrawlUrl("http://b.test/", 0.1)
    frontier.close()


# ---------------------------------------------------------------- kill -9, full disks, damage


def acknowledged_then_killed(folder: Path, seed: int, seconds: float, journal: int) -> int:
    """Apply steps to a frontier in another process, kill it after ``seconds``, and return the number of acknowledged steps.

    ``journal``: size in bytes from which the journal is summed up.
    """
    child = f"""
import os, sys
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "tests")!r}]
from pathlib import Path
from random import Random
from support.frontiersteps import Driver, random_steps
from crawlproject.frontier.disk import files
from crawlproject.frontier.disk.frontier import DiskFrontier
from crawlproject.frontier.disk.mapped_file import MemoryLimits
from crawlproject.frontier.views.view import best_waiting
from crawlproject.frontier.politeness import Politeness
files._JOURNAL_BYTES = {journal}
frontier = DiskFrontier(Path({str(folder)!r}), politeness=Politeness(1.0, 0.5), random=Random(3), clock=lambda: 0.0,
                        limits=MemoryLimits(30, 5, 8, 20))
driver = Driver(frontier)
for step in random_steps({seed}, hosts=300, pages=500):
    driver.do(step)
    os.write(1, b".")
"""
    with subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        return 1 + len(process.stdout.read())


@pytest.mark.parametrize("journal", [2**25, 5_000])
@pytest.mark.parametrize("seed", range(6))
def test_kill_9_at_any_instruction_loses_no_acknowledged_step(tmp_path: Path, seed: int, journal: int) -> None:
    """Also while a thread merges digests and syncs the files."""
    steps = acknowledged_then_killed(tmp_path, seed, Random(seed).random() * 0.4, journal)
    found = disk(tmp_path)
    states = []
    one = Driver(memory())
    for number, step in enumerate(itertools.islice(random_steps(seed, hosts=300, pages=500), steps + 1), start=1):
        one.do(step)
        if number >= steps:  # the last step was not acknowledged: it may or may not have happened
            known = {record.url for record in one.frontier.waiting()}
            known |= {url for url in one.leases if one.frontier.leased(url)}  # another step may have ended a lease
            states.append((known, one.frontier.evicted()))
    assert ({record.url for record in found.waiting()}, found.evicted()) in states
    scores = {record.url: record.score for record in one.frontier.waiting()}
    differ = [record for record in found.waiting() if scores.get(record.url, record.score) != record.score]
    assert len(differ) <= 1
    found.close()


def test_a_file_that_cannot_grow_is_reported_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    frontier = disk(tmp_path, limits=TIGHT)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_500_000, limits[1]))
    put = 0
    try:
        with pytest.raises(StorageFailed, match="cannot write to"):
            for put in range(0, 200_000, 50):
                frontier.put_many(urls(50, put))
        assert put
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert frontier.put(CrawlUrl("http://later.test/", 1.0)), "with space again it continues"
    del frontier
    again = disk(tmp_path)
    assert all(record.url in again for record in urls(put))
    assert "http://later.test/" in again
    again.close()


def test_a_batch_that_fills_the_frontier_up_is_still_one_step(tmp_path: Path) -> None:
    """The order of the worst URLs is built in the middle of the step, from rows that are not written yet."""
    frontier = disk(tmp_path, max_urls=100)
    frontier.put_many(urls(60))
    try:
        with frontier.batch():
            for record in urls(90, 60):
                frontier.put(record)
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        kept = waiting(frontier)
    assert len(kept) == 100 and frontier.evicted()
    del frontier
    again = disk(tmp_path, max_urls=100)
    assert waiting(again) == kept
    again.close()


def test_a_torn_last_frame_has_not_happened(tmp_path: Path) -> None:
    """Even when the mapped files contain its changes, as they may after a power failure."""
    frontier = disk(tmp_path)
    frontier.put_many(urls(10))
    frontier.put(CrawlUrl("http://last.test/", 1.0))
    [journal] = tmp_path.glob("journal.*")
    data = journal.read_bytes()
    end = len(data.rstrip(b"\0"))
    journal.write_bytes(data[: end - 3].ljust(len(data), b"\0"))
    del frontier
    again = disk(tmp_path)
    assert all(record.url in again for record in urls(10))
    assert "http://last.test/" not in again
    assert again.put(CrawlUrl("http://next.test/", 1.0)) and again.put(CrawlUrl("http://last.test/", 1.0))
    assert {record.url for record in again.waiting()} >= {"http://next.test/", "http://last.test/"}
    again.close()


def test_a_damaged_frame_is_named(tmp_path: Path) -> None:
    frontier = disk(tmp_path)
    for record in urls(10):
        frontier.put(record)
    [journal] = tmp_path.glob("journal.*")
    data = bytearray(journal.read_bytes())
    data[30] ^= 1
    journal.write_bytes(data)
    del frontier
    with pytest.raises(BadCrawlDir, match=r"journal\.1, byte 0: a frame is damaged"):
        disk(tmp_path)


@pytest.mark.parametrize("state", [b"{", b"[]", b'{"format": "disk frontier", "version": 99}'])
def test_a_damaged_state_is_named(tmp_path: Path, state: bytes) -> None:
    disk(tmp_path).close()
    (tmp_path / "state.json").write_bytes(state)
    with pytest.raises(BadCrawlDir, match=r"state\.json: expected the state of a frontier"):
        disk(tmp_path)


# ---------------------------------------------------------------- size


def test_the_journal_is_summed_up_when_it_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawlproject.frontier.disk.files._JOURNAL_BYTES", 20_000)
    frontier = disk(tmp_path)
    for start in range(0, 20_000, 40):
        frontier.put_many(urls(40, start))
    deadline = time.monotonic() + 10
    while len(list(tmp_path.glob("journal.*"))) > 1 and time.monotonic() < deadline:
        time.sleep(0.01)
        frontier.put_many(urls(1, 20_000 + int(time.monotonic() * 1000) % 10_000))
    assert sum(path.stat().st_size for path in tmp_path.glob("journal.*")) <= 3 * 2**20
    del frontier
    again = disk(tmp_path)
    assert len(again) >= 20_000
    assert again.hosts() == 97
    again.close()


def test_hosts_that_are_not_in_use_take_no_memory(tmp_path: Path) -> None:
    frontier = disk(tmp_path)
    frontier.put_many(CrawlUrl(f"http://h{i}.test/", 0.5) for i in range(3000))
    for step in range(500):
        taken = frontier.take(float(step))
        assert taken is not None
        frontier.done(taken.url, float(step), 0.0)
    assert frontier.hosts() == 2500
    assert frontier.hosts_in_memory() < 60
    frontier.close()


def test_hosts_that_have_been_visited_leave_memory_too(tmp_path: Path) -> None:
    frontier = disk(tmp_path, limits=MemoryLimits(crowd=1, hosts=300))
    frontier.put_many(CrawlUrl(f"http://h{i}.test/{page}", 1 / (1 + page)) for i in range(3000) for page in range(3))
    assert frontier.hosts_in_memory() == 3000
    for step in range(3000):
        taken = frontier.take(0.01 * step)
        assert taken is not None
        frontier.done(taken.url, 0.01 * step, 0.0)
    assert frontier.hosts() == 3000
    assert frontier.hosts_in_memory() < 1000
    frontier.close()


def test_hosts_below_the_floor_stay_in_memory_while_they_rest_or_are_blocked(tmp_path: Path) -> None:
    frontier = disk(tmp_path, k=1, limits=TIGHT)
    frontier.put_many(CrawlUrl(f"http://low{host}.test/{page}", 0.1) for host in range(120) for page in range(2))
    while taken := frontier.take(0.0):
        frontier.done(taken.url, 0.0, 0.0)
    frontier.block_host("low7.test", 9.0)
    frontier.put_many(CrawlUrl(f"http://high{host}.test/", 0.9) for host in range(40))
    frontier.set_floor(0.5)
    while taken := frontier.take(0.5):  # with these there are so many that some are paged out
        assert taken.score == 0.9
    frontier.set_floor(-math.inf)
    assert (frontier.take(0.5), frontier.next_due(0.5)) == (None, 1.0)
    assert len([frontier.take(1.0) for _ in range(119)]) == 119 and frontier.take(1.0) is None
    frontier.close()


def test_a_host_with_all_the_best_urls_holds_nobody_up(tmp_path: Path) -> None:
    frontier = disk(tmp_path)
    frontier.put_many(CrawlUrl(f"http://big.test/{i}", 0.9) for i in range(5000))
    frontier.put_many(CrawlUrl(f"http://h{i}.test/", 0.1) for i in range(60))
    taken = [frontier.take(0.0) for _ in range(50)]
    assert [record.score for record in taken if record] == [0.9] + 49 * [0.1]
    assert len(frontier) == 5010
    frontier.close()


def test_urls_of_a_host_are_counted(tmp_path: Path) -> None:
    frontier = disk(tmp_path)
    frontier.put_many(CrawlUrl(f"http://a.test/{i}", 0.5) for i in range(4))
    taken = frontier.take(0.0)
    assert taken is not None
    frontier.done(taken.url, 0.0, 0.0)
    assert frontier.urls_of_host("http://a.test/other") == 4
    assert frontier.urls_of_host("http://b.test/") == 0
    frontier.close()
    assert disk(tmp_path).urls_of_host("http://a.test/") == 4


# ---------------------------------------------------------------- looking in


@pytest.mark.parametrize("closed", [True, False], ids=["closed", "open"])
def test_a_view_shows_what_is_there_and_writes_nothing(tmp_path: Path, closed: bool) -> None:
    frontier = disk(tmp_path)
    frontier.put_many(urls(300))
    taken = [frontier.take(0.0) for _ in range(3)]
    assert taken[0] and taken[1]
    frontier.done(taken[0].url, 5.0, 0.0)
    frontier.crawl_delay("h5.test", 7.0)
    if closed:
        frontier.close()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    view = read_frontier(tmp_path)
    assert view is not None and view.kind == "disk"
    assert view.counts() == (297, 2, 1, 97, 0)
    assert len(list(view.waiting())) == 297
    assert {record.url for record in view.leased()} == {record.url for record in taken[1:] if record}
    assert view.find(taken[0].url) == ("done", None)
    assert view.find(taken[1].url)[0] == "leased"
    assert view.find("http://nobody.test/") == ("", None)
    waits = sorted(view.waiting(), key=lambda record: -record.score)
    assert best_waiting(view, 7) == waits[:7], "of equal scores the first come first"
    assert view.rests()[taken[0].url.split("/")[2]] == 6.0
    assert view.crawl_delays() == {"h5.test": 7.0}
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def open_files() -> int:
    gc.collect()
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_views_and_frontiers_that_cannot_be_opened_leave_no_file_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frontier = disk(tmp_path / "whole")
    frontier.put_many(urls(5))
    frontier.close()
    del frontier
    (tmp_path / "cut").mkdir()
    for path in (tmp_path / "whole").iterdir():
        (tmp_path / "cut" / path.name).write_bytes(path.read_bytes())
    (tmp_path / "cut" / "journal.2").unlink()
    before = open_files()
    for _ in range(3):
        waiting = read_frontier(tmp_path / "whole").waiting()  # type: ignore[union-attr]
        assert len(list(waiting)) == 5, "also without its view"
        del waiting
        with pytest.raises(BadCrawlDir):
            disk(tmp_path / "cut")
    assert open_files() == before
    with monkeypatch.context() as patched:
        patched.setattr(mmap, "mmap", lambda *_, **__: os.close(-1))
        for _ in range(3):
            with pytest.raises(StorageFailed, match="cannot open"):
                disk(tmp_path / "whole")
    assert open_files() == before


def test_clear_removes_the_frontier_and_nothing_else(tmp_path: Path) -> None:
    disk(tmp_path).close()
    (tmp_path / "mine.txt").write_text("keep")
    assert clear_frontier(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    assert not clear_frontier(tmp_path)
    assert read_frontier(tmp_path) is None
