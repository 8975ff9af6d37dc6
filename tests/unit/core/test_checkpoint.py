"""A crawl that resumes from a checkpoint has the same state as one that reads all pages again."""

from __future__ import annotations

import errno
import os
import pickle
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from support.learnedstate import differences, state
from support.randomweb import RandomWeb, crawl_on

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core import forked_file, learned_state
from crawlproject.core.checkpoint import NAME, NEWER
from crawlproject.core.crawl import Crawl
from crawlproject.core.learned_state import Unfit
from crawlproject.orderings.registry import ORDERINGS
from crawlproject.parts.sites.link_farms import SiteTracker
from crawlproject.parts.sites.part import Sites
from crawlproject.records import Topic

PLAIN = {
    "CRAWL_SITE_BUDGET": 0,
    "TRAP_TEMPLATES": False,
    "CRAWL_BLOCKED_REST": 0,
    "CRAWL_LEARN_RULES": False,
    "CRAWL_SOFT_404_PROBE": 0,
    "CRAWL_CLOAKING_PROBE": 0,
    "POLITENESS_MIN_DELAY": 0,
    "POLITENESS_FACTOR": 0,
    "CRAWL_CHECKPOINT_SECONDS": 5,
}
WEB = RandomWeb(4, told=False)  # the text of pages that ask not to be kept cannot be read again
# Checkpointed orderings: they learn, need no archive, pass nothing down, and hold no tools that belong to a run.
FIT = sorted(
    {name for name, cls in ORDERINGS.items() if cls.learns and not (cls.needs_archive or cls.needs_targets)}
    - {"focused", "context_graph", "infospiders", "keyword_queue", "search_impact"}
)
RUN_TIME = {
    "Stopping": frozenset({"_began", "_now", "_next_look", "_saturated"}),
    "Probes": frozenset({"_log"}),
    "LinkFarms": frozenset({"_latest"}),
    "Sites": frozenset({"turns", "_is_live", "_ordering"}),
    "Duplicates": frozenset({"_learning", "_later"}),
    "DiskSketchStore": frozenset({"_file"}),
    "DuplicateIndex": frozenset({"_latest"}),  # the page that was looked at last
    "UrlTemplates": frozenset({"_turns"}),
    "DuplicateInspector": frozenset({"_examined", "_stored_until", "_seen", "_link_counts", "latest"}),
    "OrderingFeed": frozenset({"_latest", "_implied", "_offered"}),  # hooks, and what is not asked twice
    "Adaptive": frozenset({"_latest"}),
    "Intelligent": frozenset({"_page", "_latest"}),
    "Reinforcement": frozenset({"_page"}),
    "TermIds": frozenset({"_vocabulary", "_known"}),  # the reader's numbers of the same terms
}


def opened(folder: Path, ordering: str, **settings: Any) -> Crawl:
    options = read_options({**PLAIN, "ORDERING": ordering, **settings})
    return assemble(Topic("reefs", ("coral reef",), WEB.seeds), options, clock=lambda: 2000.0, folder=folder)


def killed(folder: Path, ordering: str, fetches: int = 60, web: RandomWeb = WEB, **settings: Any) -> Path:
    """The folder of a crawl that was killed some time after its first checkpoint."""
    crawl = opened(folder, ordering, **settings)
    now = crawl_on(crawl, web, fetches // 2)
    wait_for(folder / NAME)
    first = (folder / NAME).read_bytes()
    crawl.services.checkpoints.forbid()
    crawl_on(crawl, web, fetches - fetches // 2, begin=now)
    assert orjson.loads(first.partition(b"\n")[0])["place"]["lines"] < crawl.folder.history.lines
    left = Path(shutil.copytree(folder, folder.with_name("left"), ignore=shutil.ignore_patterns("*.tmp")))
    crawl.close("stopped", 0.0)
    (left / NAME).write_bytes(first)
    return left


@pytest.fixture(scope="module", autouse=True)
def _forks_cost_the_crawl_nothing() -> Iterator[None]:
    """Exclude the time of forks from the clock of the crawl, as this process has the memory of many tests to copy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forked_file.os, "times", lambda: SimpleNamespace(system=0.0))
        yield


@pytest.fixture(scope="module")
def killed_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return killed(tmp_path_factory.mktemp("killed") / "crawl", "adaptive")


@pytest.fixture
def left(killed_once: Path, tmp_path: Path) -> Path:
    """The folder of a crawl of adaptive, as ``killed`` leaves it."""
    return Path(shutil.copytree(killed_once, tmp_path / "left"))


def remove_checkpoints(folder: Path) -> None:
    for name in (NAME, NEWER):
        (folder / name).unlink(missing_ok=True)


def wait_for(path: Path) -> None:
    end = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < end, f"{path} was not written"
        time.sleep(0.01)


def head_of(folder: Path, name: str = NAME) -> dict[str, Any]:
    head: dict[str, Any] = orjson.loads((folder / name).open("rb").readline())
    return head


def assert_known_as_a_whole_replay_knows(left: Path, ordering: str, web: RandomWeb = WEB, **settings: Any) -> None:
    """Compare a crawl that resumes from its checkpoint with one without: their state, and their next fetches."""
    whole = Path(shutil.copytree(left, left.with_name("whole")))
    remove_checkpoints(whole)
    settings = {"CRAWL_CHECKPOINT_SECONDS": 1000, **settings}
    crawls = [opened(folder, ordering, **settings) for folder in (left, whole)]
    assert [crawl.folder.warnings for crawl in crawls] == [[], []]
    assert differences(known(crawls[0]), known(crawls[1])) == []
    fetched = []
    for crawl in crawls:
        crawl_on(crawl, web, 30, begin=2000.0)
        fetched.append(list(crawl.folder.history))
        crawl.close("stopped", 3000.0)
    assert fetched[0] == fetched[1]


def known(crawl: Crawl) -> dict[str, Any]:
    """All learned state, and the waiting URLs."""
    found = {type(learner).__name__: state(learner, RUN_TIME) for learner in learners(crawl)}
    found["waiting"] = {url.key: (url.score, url.precedence) for url in crawl.frontier.waiting()}
    return found


def learners(crawl: Crawl) -> list[Any]:
    return [crawl.services.feed, crawl.stopping, *(learn.__self__ for learn in crawl.parts.learning)]


@pytest.mark.parametrize(
    ("ordering", "frontier"), [*((name, "disk") for name in FIT), ("adaptive", "memory"), ("dom", "memory")]
)
def test_a_checkpoint_and_what_came_after_are_the_whole_history(tmp_path: Path, ordering: str, frontier: str) -> None:
    left = killed(tmp_path / "crawl", ordering, FRONTIER=frontier)
    assert_known_as_a_whole_replay_knows(left, ordering, FRONTIER=frontier)


def test_the_ordering_goes_on_from_a_later_line_than_the_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = opened(tmp_path / "crawl", "adaptive")
    now = crawl_on(crawl, WEB, 30)
    wait_for(tmp_path / "crawl" / NAME)
    first = (tmp_path / "crawl" / NAME).read_bytes()
    now = crawl_on(crawl, WEB, 10, begin=now)
    checkpoints = crawl.services.checkpoints
    checkpoints._write(checkpoints._newer, checkpoints._head())  # as its child would, which no clock of ours hurries
    crawl_on(crawl, WEB, 10, begin=now)
    left = Path(shutil.copytree(tmp_path / "crawl", tmp_path / "left", ignore=shutil.ignore_patterns("*.tmp")))
    crawl.close("stopped", 0.0)
    (left / NAME).write_bytes(first)
    places = [head_of(left, name)["place"]["lines"] for name in (NAME, NEWER)]
    observed: list[str] = []
    observe = ORDERINGS["adaptive"].observe
    monkeypatch.setattr(
        ORDERINGS["adaptive"], "observe", lambda self, page: (observed.append(page.url), observe(self, page))
    )
    crawl = opened(left, "adaptive")
    assert places[0] < places[1] and len(observed) <= crawl.folder.history.lines - places[1]
    crawl.close("stopped", 3000.0)
    monkeypatch.undo()
    assert_known_as_a_whole_replay_knows(left, "adaptive")


def test_the_ordering_goes_on_where_the_state_of_all_is_missing(left: Path) -> None:
    shutil.copy(left / NAME, left / NEWER)
    (left / NAME).unlink()
    assert_known_as_a_whole_replay_knows(left, "adaptive")


def test_the_pages_before_it_are_not_read_again(left: Path) -> None:
    lines = orjson.loads((left / NAME).open("rb").readline())["place"]["lines"]
    urls = [orjson.loads(line)["url"] for line in (left / "history.jsonl").open("rb")][:lines]
    shutil.rmtree(left / "pages")
    crawl = opened(left, "adaptive")
    assert lines > 10 and crawl.ordering._pages > 5  # type: ignore[attr-defined]
    assert all(url in crawl.frontier for url in urls)
    crawl.close("stopped", 3000.0)


# All events that parts learn from occur: probes, blocks, copies, rules, templates, sites over budget, stopping.
ALL_PARTS = {
    "CRAWL_SITE_BUDGET": 1,
    "TRAP_TEMPLATES": True,
    "CRAWL_BLOCKED_REST": 30,
    "CRAWL_LEARN_RULES": True,
    "CRAWL_SOFT_404_PROBE": 2,
    "CRAWL_CLOAKING_PROBE": 0.2,
    "CRAWL_SITEMAPS": 2,
    "CRAWL_RENDER": "needed",
    "CRAWL_MIN_HARVEST": 0.001,
    "CRAWL_HARVEST_WINDOW": 50,
}


@pytest.mark.parametrize("seed", range(6))
def test_the_parts_know_what_a_whole_replay_teaches_them(tmp_path: Path, seed: int) -> None:
    web = RandomWeb(seed, hosts=12)
    left = killed(tmp_path / "crawl", "best_first", 150, web=web, **ALL_PARTS)
    whole = Path(shutil.copytree(left, tmp_path / "whole"))
    remove_checkpoints(whole)
    crawls = [opened(folder, "best_first", **ALL_PARTS) for folder in (left, whole)]
    assert [crawl.folder.warnings for crawl in crawls] == [[], []]
    assert {"sites", "duplicates", "probes", "rendering"} <= {each["name"] for each in head_of(left)["sections"]}
    assert differences(known(crawls[0]), known(crawls[1])) == []
    for crawl in crawls:
        crawl.close("stopped", 3000.0)


def test_the_lines_before_it_are_not_read_again(left: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learned: list[str] = []
    learn = SiteTracker.learn
    monkeypatch.setattr(SiteTracker, "learn", lambda self, event: (learned.append(event.visit.url), learn(self, event)))
    crawl = opened(left, "adaptive")
    lines = [orjson.loads(line)["url"] for line in (left / "history.jsonl").open("rb")]
    assert learned == lines[head_of(left)["place"]["lines"] :] != []
    crawl.close("stopped", 3000.0)


def test_a_part_that_says_nothing_of_its_state_is_shown_all_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sites, "learned", lambda self: None)
    left = killed(tmp_path / "crawl", "adaptive")
    assert "sites" not in {each["name"] for each in head_of(left)["sections"]}
    assert_known_as_a_whole_replay_knows(left, "adaptive")


def test_a_part_whose_files_have_changed_is_shown_all_lines(left: Path, tmp_path: Path) -> None:
    whole = Path(shutil.copytree(left, tmp_path / "whole"))
    for folder in (left, whole):
        (folder / "sketches.jsonl").unlink()
    remove_checkpoints(whole)
    crawls = [opened(folder, "adaptive") for folder in (left, whole)]
    [warning] = crawls[0].folder.warnings
    assert "sketches.jsonl has changed" in warning and "what duplicates knows is learned again" in warning
    assert differences(known(crawls[0]), known(crawls[1])) == []
    for crawl in crawls:
        crawl.close("stopped", 3000.0)


def test_other_settings_of_a_part_need_all_lines_and_no_pages(left: Path) -> None:
    crawl = opened(left, "adaptive", CRAWL_BLOCKS_UNTIL_GIVEN_UP=3, CRAWL_MAX_PAGES=1000)
    warnings = crawl.folder.warnings
    assert warnings and all("learns from all lines again" in warning for warning in warnings)
    crawl.close("stopped", 3000.0)


def test_a_clock_that_was_set_back_needs_all_lines(left: Path) -> None:
    options = read_options({**PLAIN, "ORDERING": "adaptive"})
    crawl = assemble(Topic("reefs", ("coral reef",), WEB.seeds), options, clock=lambda: 500.0, folder=left)
    assert any("the clock was set back" in warning for warning in crawl.folder.warnings)
    crawl.close("stopped", 3000.0)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda data: data[:-10],
    "emptied": lambda data: b"",
    "a byte changed": lambda data: data[:-100] + bytes([data[-100] ^ 1]) + data[-99:],
    "another version": lambda data: data.replace(b'"version":2', b'"version":1', 1),
    "another history": lambda data: data.replace(b'"tail":"', b'"tail":"0', 1),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_one_that_does_not_fit_is_told_and_all_is_replayed(left: Path, tmp_path: Path, damage: str) -> None:
    whole = Path(shutil.copytree(left, tmp_path / "whole"))
    remove_checkpoints(whole)
    for name in (NAME, NEWER):
        if (left / name).exists():
            (left / name).write_bytes(DAMAGES[damage]((left / name).read_bytes()))
    crawls = [opened(folder, "adaptive") for folder in (left, whole)]
    [warning] = crawls[0].folder.warnings
    assert f"{NAME} cannot be used" in warning and "all pages are read again" in warning
    assert differences(known(crawls[0]), known(crawls[1])) == []
    for crawl in crawls:
        crawl.close("stopped", 3000.0)


def test_other_settings_of_the_ordering_need_all_pages(left: Path) -> None:
    crawl = opened(left, "adaptive", TOPIC_TERMS="word")
    assert "other settings" in crawl.folder.warnings[0]
    crawl.close("stopped", 3000.0)


def test_a_crawl_that_ends_leaves_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawlproject.core.checkpoint._AT_THE_END", 30)
    folder = tmp_path / "crawl"
    crawl = opened(folder, "adaptive", CRAWL_CHECKPOINT_SECONDS=1000)
    crawl_on(crawl, WEB, 60)
    crawl.close("stopped", 2000.0)
    assert orjson.loads((folder / NAME).open("rb").readline())["place"]["lines"] == crawl.folder.history.lines


def test_forks_that_are_dear_for_the_crawl_are_rare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    children, seconds, fork = list[int](), count(), os.fork

    def noted() -> int:
        children.append(fork())
        return children[-1]

    monkeypatch.setattr(forked_file.os, "fork", noted)
    monkeypatch.setattr(forked_file.os, "times", lambda: SimpleNamespace(system=float(next(seconds))))
    collapsed = list[int]()
    monkeypatch.setattr(forked_file, "collapse_huge_pages", lambda: collapsed.append(len(children)))
    crawl = opened(tmp_path / "crawl", "adaptive")
    now = crawl_on(crawl, WEB, 30)
    for _ in range(4):
        for child in children:
            with suppress(ChildProcessError):  # it was looked after
                os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        now = crawl_on(crawl, WEB, 30, begin=now)
    assert children and len(children) <= 2, "each took a second of the kernel, which is a fiftieth of all that was left"
    assert len(collapsed) == len(children), "once for each, when it has ended"
    crawl.close("stopped", now)


def test_a_fork_that_is_refused_is_tried_again_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    fork, asked = os.fork, list[int]()

    def refused_once() -> int:
        asked.append(1)
        if len(asked) == 1:
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
        return fork()

    monkeypatch.setattr(forked_file.os, "fork", refused_once)
    crawl = opened(tmp_path / "crawl", "adaptive")
    crawl.close("stopped", crawl_on(crawl, WEB, 30))
    assert len(asked) >= 2 and (tmp_path / "crawl" / NAME).exists()
    assert caplog.text.count("the checkpoint waits") == 1


def test_where_no_fork_is_allowed_the_end_writes_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> int:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(forked_file.os, "fork", refused)
    monkeypatch.setattr("crawlproject.core.checkpoint._AT_THE_END", 30)
    crawl = opened(tmp_path / "crawl", "adaptive")
    crawl.close("stopped", crawl_on(crawl, WEB, 30))
    place = orjson.loads((tmp_path / "crawl" / NAME).open("rb").readline())["place"]
    assert place["lines"] == crawl.folder.history.lines


def test_what_was_refused_for_one_file_is_not_tried_again_for_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = opened(tmp_path / "crawl", "adaptive")
    checkpoints = crawl.services.checkpoints
    monkeypatch.setattr(forked_file.os, "wait4", lambda child, _: (child, 256 if child == 1 else 0, None))
    checkpoints._whole._child, checkpoints._newer._child = 1, 2
    checkpoints.pass_time(2000.0)
    assert not checkpoints._is_on
    crawl.close("stopped", 2000.0)


def test_the_end_does_not_wait_for_a_child_that_is_stuck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked_file, "_LONGEST_CHILD", 0.1)
    crawl = opened(tmp_path / "crawl", "adaptive")
    stuck = subprocess.Popen(["sleep", "100"])
    crawl.services.checkpoints._newer._child = stuck.pid
    crawl.close("stopped", 2000.0)
    assert not Path(f"/proc/{stuck.pid}").exists()
    stuck.wait()


def test_none_is_written_where_none_is_wanted(tmp_path: Path) -> None:
    crawl = opened(tmp_path / "crawl", "adaptive", CRAWL_CHECKPOINT_SECONDS=0)
    crawl_on(crawl, WEB, 100)
    crawl.close("stopped", 2000.0)
    assert not (tmp_path / "crawl" / NAME).exists()


@pytest.mark.parametrize("ordering", ["dom", "infospiders", "search_impact"])
def test_without_the_state_of_the_ordering_there_is_that_of_the_parts(tmp_path: Path, ordering: str) -> None:
    left = killed(tmp_path / "crawl", ordering)
    names = {each["name"] for each in head_of(left)["sections"]}
    assert names >= {"stopping", "sites", "duplicates"} and "ordering" not in names
    assert_known_as_a_whole_replay_knows(left, ordering)


class Stranger:
    """An object whose unpickling calls a function, as a hostile folder may contain."""

    def __init__(self, call: Any, *arguments: Any) -> None:
        self.reduced = call, arguments

    def __reduce__(self) -> Any:
        return self.reduced


@pytest.mark.parametrize(
    "what",
    [
        lambda place: Stranger(Path.touch, place),
        lambda place: Stranger(open, str(place), "w"),
        lambda place: Stranger(eval, f"open({str(place)!r}, 'w')"),
        lambda place: Stranger(getattr, [], "append"),
        lambda place: Stranger(learned_state.Method, place, "touch"),
        lambda place: Stranger(learned_state.importlib.import_module, "this"),
    ],
)
def test_a_stranger_runs_nothing(tmp_path: Path, what: Callable[[Path], Any]) -> None:
    crawl = opened(tmp_path / "crawl", "adaptive")
    place = tmp_path / "touched"
    with pytest.raises(Unfit):
        learned_state.load(pickle.dumps(what(place)), crawl.ordering)
    for part in crawl.parts:
        with pytest.raises(Unfit):
            learned_state.load_values(pickle.dumps(what(place)), part.learned_classes)
    assert not place.exists()
    crawl.close("stopped", 3000.0)
