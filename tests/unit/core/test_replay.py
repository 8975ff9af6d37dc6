"""After a resume, every learner has its earlier state."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from support.learnedstate import differences, state
from support.livecrawl import finish, taken
from support.randomweb import RandomWeb, crawl_on
from support.recording_ordering import RecordingOrdering

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.orderings import registry
from crawlproject.records import CrawlUrl, Fetch, Topic

TOPIC = Topic("reefs", ("coral reef",), ("http://a.example/", "http://b.example/", "http://c.example/"))


class Diary(RecordingOrdering):
    """Also records revisions."""

    def revise(self) -> Iterable[tuple[str, float]]:
        self.events.append(("revision",))
        return super().revise()


@pytest.fixture(autouse=True)
def diary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.ORDERINGS, "diary", Diary)


def open_crawl(folder: Path) -> tuple[Crawl, Diary]:
    options = read_options({"ORDERING": "diary", "FRONTIER_BATCH_SIZE": 1, "POLITENESS_MIN_DELAY": 0})
    crawl = assemble(TOPIC, options, clock=lambda: 0.0, folder=folder)
    assert isinstance(crawl.ordering, Diary)
    return crawl, crawl.ordering


def fetch(crawl: Crawl, now: float, body: bytes, content_type: str = "text/html", robots_tag: str = "") -> None:
    url = taken(crawl, now)
    page = crawl.steps.read(url, body, content_type=content_type, robots_tag=robots_tag)
    finish(crawl, url, page, body, Fetch(200, now, 0.1, content_type=content_type))


def next_one(crawl: Crawl, url: str) -> CrawlUrl:
    found = taken(crawl, 50.0)
    assert found.url == url
    return found


def test_a_resumed_ordering_has_seen_the_same(tmp_path: Path) -> None:
    crawl, before = open_crawl(tmp_path)
    fetch(crawl, 10, b"<p>coral reef <a href='/more'>more coral</a> <a href='http://d.example/'>d</a>")
    fetch(crawl, 20, b"<p>nothing <a href='http://a.example/more'>coral</a>")
    crawl.redirect(taken(crawl, 30), "http://e.example/", Fetch(301, 30, 0.1))
    crawl.fail(taken(crawl, 40), "http 404", Fetch(404, 40, 0.1))
    fetch(crawl, 50, b"<a href='http://f.example/'>coral reef</a>")
    crawl.close("stopped", 60)

    resumed, after = open_crawl(tmp_path)
    assert len(before.events) > 8
    assert after.events == before.events
    resumed.close("stopped", 70)


def test_a_page_is_read_as_its_headers_wanted(tmp_path: Path) -> None:
    """The headers are not stored with the page: charset and type are in the history, ``nofollow`` in the number of links."""
    crawl, live = open_crawl(tmp_path)
    fetch(crawl, 10.0, "<p>ко<a href=/x>раллы".encode("koi8-r"), "text/html; charset=koi8-r")
    fetch(crawl, 20.0, b"<a href=/y>reef</a>", "text/plain")
    fetch(crawl, 30.0, b"<a href=/z>reef</a>", robots_tag="nofollow")
    crawl.close("test", 40.0)
    resumed, after = open_crawl(tmp_path)
    assert after.events == live.events
    assert [event[2] for event in after.events if event[0] == "link"] == ["http://a.example/x"]
    resumed.close("test", 50.0)


def test_refusals_are_replayed(tmp_path: Path) -> None:
    crawl, before = open_crawl(tmp_path)
    fetch(crawl, 10, b"<p>coral reef <a href='/film.mp4'>film</a> <a href='/forbidden'>f</a> <a href='/later'>l</a>")
    crawl.redirect(next_one(crawl, "http://b.example/"), "http://b.example/b.zip", Fetch(301, 20, 0.1))
    crawl.refuse(next_one(crawl, "http://c.example/"), "robots/unreachable")
    crawl.refuse(next_one(crawl, "http://a.example/forbidden"), "robots/forbidden")
    crawl.close("stopped", 60)
    refusals = [event for event in before.events if event[0] == "refusal"]
    assert refusals == [
        ("refusal", f"http://{url}") for url in ("a.example/film.mp4", "b.example/b.zip", "a.example/forbidden")
    ]

    resumed, after = open_crawl(tmp_path)
    assert [event for event in after.events if event[0] == "refusal"] == refusals
    assert [url.url for url in resumed.frontier.waiting()] == ["http://a.example/later"]
    resumed.close("stopped", 70)


def test_of_pages_that_are_not_there_nothing_is_learnt(tmp_path: Path) -> None:
    crawl, _ = open_crawl(tmp_path)
    fetch(crawl, 10, b"<p>coral")
    fetch(crawl, 20, b"<meta name=robots content=noindex><p>coral")
    crawl.folder.pages.path("http://a.example/").unlink()
    crawl.close("stopped", 60)
    resumed, after = open_crawl(tmp_path)
    assert after.events == [("refusal", "http://a.example/"), ("refusal", "http://b.example/")]
    resumed.close("stopped", 70)


# ------------------------------------------------------------ all learners, field by field

# Fields that each run starts afresh, by class: they depend on the clock or fetches in flight, or repeat learned state.
RUN_TIME = {
    "Stopping": frozenset({"_began", "_now", "_next_look", "_saturated"}),
    "Probes": frozenset({"_log"}),
    "Soft404Detector": frozenset({"_asked"}),  # also those whose probe waits: it goes before their next page
    "LinkFarms": frozenset({"_latest"}),
    "Sites": frozenset({"turns", "_is_live", "_ordering"}),
    "Duplicates": frozenset({"_learning", "_later"}),
    "DiskSketchStore": frozenset({"_file"}),
    "DuplicateIndex": frozenset({"_latest"}),
    "UrlTemplates": frozenset({"_turns"}),
    "UrlRuleLearner": frozenset({"variants"}),
    "DuplicateInspector": frozenset(
        {"_examined", "_stored_until", "_seen", "_link_counts", "latest"}
    ),  # _seen: the texts of late, which fade anyway; _link_counts: those of a run
    "OrderingFeed": frozenset({"_latest", "_implied", "_offered"}),  # hooks, and what is not asked twice
    "Adaptive": frozenset({"_latest"}),  # evidence that is computed once
    "Intelligent": frozenset({"_page", "_latest"}),  # the page whose links are scored next
    "InfoSpiders": frozenset({"_page"}),
    "QMin": frozenset({"_page", "_quality"}),
    "Reinforcement": frozenset({"_page"}),
    "Tres": frozenset({"_page", "_found"}),
    "TermIds": frozenset({"_vocabulary", "_known"}),  # the reader's numbers of the same terms
}
PROBED = {"CRAWL_SOFT_404_PROBE": 2, "CRAWL_CLOAKING_PROBE": 0.2, "CRAWL_SITEMAPS": 2, "POLITENESS_MIN_DELAY": 0}
PROBED |= {"CRAWL_CHECKPOINT_SECONDS": 0}  # a whole replay
PROBED |= {"CRAWL_MIN_HARVEST": 0.001, "CRAWL_HARVEST_WINDOW": 50}

# The history does not record when a URL was refused at its turn or replaced by another spelling, and lacks the text of pages
# that ask not to be kept: these webs have no such URLs. Nor does it record when a URL was held, which changes the active set
# of ``adaptive``.
HOLDS_NOTHING = {"CRAWL_SITE_BUDGET": 0, "TRAP_TEMPLATES": False, "CRAWL_BLOCKED_REST": 0}
LEARNING = ["adaptive", "backlink_count", "infospiders", "intelligent", "keyword_queue", "largest_site_first", "opic"]
LEARNING += ["pagerank", "qmin", "reinforcement", "search_impact", "tag_path_bandit", "tres"]


def learners(crawl: Crawl) -> list[Any]:
    """All learners of a crawl but its ordering, which learns with the links."""
    return [crawl.stopping, *(learn.__self__ for learn in crawl.parts.learning)]


def crawled_and_resumed(folder: Path, web: RandomWeb, settings: dict[str, Any]) -> tuple[Crawl, Crawl]:
    topic, options = Topic("reefs", ("coral reef",), web.seeds), read_options({**PROBED, **settings})
    crawl = assemble(topic, options, clock=lambda: 0.0, folder=folder)
    crawl_on(crawl, web, 120)
    crawl.close("stopped", 20_000.0)
    assert crawl.stats.fetches > 30
    resumed = assemble(topic, options, clock=lambda: 20_000.0, folder=folder)
    resumed.close("stopped", 20_001.0)
    return crawl, resumed


@pytest.mark.parametrize("seed", range(8))
def test_a_replay_teaches_the_same(tmp_path: Path, seed: int) -> None:
    live, resumed = crawled_and_resumed(tmp_path, RandomWeb(seed), {"ORDERING": "best_first"})
    for one, other in zip(learners(live), learners(resumed), strict=True):
        assert differences(state(one, RUN_TIME), state(other, RUN_TIME)) == []


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("ordering", LEARNING)
def test_a_replay_teaches_an_ordering_the_same(tmp_path: Path, ordering: str, seed: int) -> None:
    settings = {"ORDERING": ordering, "CRAWL_LEARN_RULES": False, **(HOLDS_NOTHING if ordering == "adaptive" else {})}
    live, resumed = crawled_and_resumed(tmp_path, RandomWeb(seed, told=False), settings)
    assert differences(state(live.services.feed, RUN_TIME), state(resumed.services.feed, RUN_TIME)) == []


def test_without_its_sketches_a_crawl_knows_its_pages_all_the_same(tmp_path: Path) -> None:
    web, options = RandomWeb(3, told=False), read_options({**PROBED, "ORDERING": "best_first"})
    live, _ = crawled_and_resumed(tmp_path, web, {"ORDERING": "best_first"})
    (tmp_path / "sketches.jsonl").unlink()
    topic = Topic("reefs", ("coral reef",), web.seeds)
    resumed = assemble(topic, options, clock=lambda: 30_000.0, folder=tmp_path)
    for one, other in zip(learners(live), learners(resumed), strict=True):
        assert differences(state(one, RUN_TIME), state(other, RUN_TIME)) == []
    resumed.close("stopped", 3001.0)
