"""All workers of a crawl learn what one of them learns: live, late, and after a crash."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st
from support.eventloop import Loop
from support.learnedstate import differences, state
from support.parts import duplicates_of, probes_of, sites_of
from support.randomweb import RandomWeb, crawl_on
from support.recording_ordering import RecordingOrdering
from support.redisserver import empty_database

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.frontier.redis.worker import RedisWorker
from crawlproject.frontier.shared import SharedFrontier
from crawlproject.orderings import registry
from crawlproject.pages.text.minhash import sketch
from crawlproject.parts.duplicates.index import original_of
from crawlproject.parts.duplicates.sketch_store import read_original, written_original
from crawlproject.parts.revisits.collection import CollectedPage
from crawlproject.parts.revisits.shared_records import NAME, SharedListing, SharedPage
from crawlproject.parts.verticals.part import Verticals
from crawlproject.parts.workers.event_codec import (
    LARGEST,
    PART,
    REFUSED,
    VERSION,
    UnreadableMessage,
    dump_fetch,
    dump_name,
    dump_part,
    load,
)
from crawlproject.parts.workers.shared_peers import SharedPeers
from crawlproject.records import FetchEvent, Link, Page, Span, Topic, Visit

RUN_TIME = {
    "Stopping": frozenset({"_began", "_now", "_next_look", "_saturated"}),
    "Probes": frozenset({"_log"}),
    "Soft404Detector": frozenset({"_asked"}),  # also those whose probe waits: it goes before their next page
    "LinkFarms": frozenset({"_latest"}),
    "UrlRuleLearner": frozenset({"variants"}),
    "SiteTracker": frozenset({"hosts", "_new_links", "_news"}),  # learned by each worker about its own hosts
}
PROBED = {
    "CRAWL_SOFT_404_PROBE": 2,
    "CRAWL_CLOAKING_PROBE": 0.2,
    "CRAWL_MIN_HARVEST": 0.001,
    "CRAWL_HARVEST_WINDOW": 50,
}
STREAM = "topical:{reefs}:messages"


class Diary(RecordingOrdering):
    """Also records data that only the fetching worker has at once. Spans are published, tag paths are not."""

    def of_link(self, link: Link) -> tuple[Any, ...]:
        return (link.anchor_span,)

    def postponed(self, url: str) -> None:
        self.events.append(("postponed", url))

    def host_blocked(self, host: str) -> None:
        self.events.append(("blocked", host))


@pytest.fixture(autouse=True)
def diary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.ORDERINGS, "diary", Diary)


@pytest.fixture
def database() -> redis.Redis:
    return empty_database()


def worker(
    folder: Path,
    database: redis.Redis,
    name: str,
    web: RandomWeb,
    clock: Callable[[], float] = lambda: 1000.0,
    **settings: object,
) -> Crawl:
    where = database.connection_pool.connection_kwargs
    asked = {"FRONTIER": "redis", "REDIS_PORT": where["port"], "REDIS_DB": where["db"], "CRAWL_WORKER": name}
    options = read_options({"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, **asked, **PROBED, **settings})
    topic = Topic("reefs", ("coral reef",), web.seeds)
    return assemble(topic, options, clock=clock, folder=folder / name)


def known(crawl: Crawl) -> dict[str, Any]:
    """The state of learners that must be equal, whichever worker fetched."""
    learned, redundant = duplicates_of(crawl), crawl.part(Verticals)
    learners = [crawl.stopping, sites_of(crawl).tracker, probes_of(crawl), learned.rules]
    learners.append(redundant and redundant._redundant)
    return {type(learner).__name__: state(learner, RUN_TIME) for learner in learners}


def templates(crawl: Crawl, of: Crawl) -> dict[str, Any]:
    """The knowledge of ``crawl`` about the URL templates of another worker's hosts."""
    learned = duplicates_of(crawl).templates
    assert learned is not None
    return {name: each for name, each in learned._templates.items() if of.peers.is_own(name.partition("/")[0])}


def originals(crawl: Crawl) -> set[str]:
    found = duplicates_of(crawl).copies
    assert found is not None and found._others is not None
    return {original.url for index in (found.index, found._others) for original in index._originals}


def events(crawl: Crawl) -> list[tuple[Any, ...]]:
    assert isinstance(crawl.ordering, Diary)
    return crawl.ordering.events


@pytest.mark.parametrize("seed", range(6))
def test_who_joins_late_knows_what_one_worker_has_learned(tmp_path: Path, database: redis.Redis, seed: int) -> None:
    web = RandomWeb(seed)
    one = worker(tmp_path, database, "one", web, ORDERING="diary")
    crawl_on(one, web, 120)
    assert one.stats.fetches > 15
    late = worker(tmp_path, database, "late", web, ORDERING="diary")
    assert differences(known(one), known(late)) == []
    assert originals(late) == originals(one)
    assert templates(late, late) == templates(one, late) != {}
    shown = [event for event in events(late) if event[0] in ("page", "link", "redirect", "failure")]
    assert shown == [event for event in events(one) if event[0] in ("page", "link", "redirect", "failure")]
    for kind in ("refusal", "blocked"):
        told = [event for event in events(one) if event[0] == kind]
        assert [event for event in told if event not in events(late)] == []


def test_workers_that_take_turns_know_the_same(tmp_path: Path, database: redis.Redis) -> None:
    web, loop, heard = RandomWeb(3, hosts=12), Loop(), Counter[str]()
    crews = {
        name: worker(tmp_path, database, name, web, time.time, ORDERING="best_first")
        for name in ("one", "two", "three")
    }
    for name, crawl in crews.items():
        learn_by_turns(name, crawl, heard)
        loop.start(frontier_of(crawl), 1)
    loop.run_until(lambda: all(len(frontier_of(crawl).workers()) == 3 for crawl in crews.values()))

    def all_have_heard() -> bool:
        said = Counter(next(iter(fields)).decode() for _, fields in database.xrange(STREAM))
        return all(heard[name] == said.total() - said[name] for name in crews)

    for turn in range(120):
        crawl = list(crews.values())[turn % 3]
        crawl_on(crawl, web, 1, begin=time.time())
        loop.run_for(0.03)
        loop.run_until(all_have_heard)
    assert sum(crawl.stats.fetches for crawl in crews.values()) > 20
    assert min(crawl.stats.fetches for crawl in crews.values()) > 3
    one, two, three = crews.values()
    assert differences(known(one), known(two)) == differences(known(one), known(three)) == []
    assert originals(one) == originals(two) == originals(three)
    for crawl in crews.values():
        frontier_of(crawl).close()


def frontier_of(crawl: Crawl) -> RedisWorker:
    assert isinstance(crawl.frontier, RedisWorker)
    return crawl.frontier


def learn_by_turns(name: str, crawl: Crawl, heard: Counter[str]) -> None:
    """Count the messages that the worker receives."""
    assert isinstance(crawl.peers, SharedPeers)
    receive = crawl.peers.receive

    def counted(messages: Sequence[bytes]) -> None:
        receive(messages)
        heard[name] += len(messages)

    frontier_of(crawl).when_published(counted)


@pytest.mark.parametrize("left_out", [1, 5])
def test_what_a_killed_worker_has_not_told_it_tells_when_it_is_back(
    tmp_path: Path, database: redis.Redis, left_out: int
) -> None:
    web = RandomWeb(1)
    one = worker(tmp_path, database, "one", web, ORDERING="best_first")
    now = crawl_on(one, web, 30)
    one.frontier.publish = lambda *message: None  # type: ignore[method-assign]
    crawl_on(one, web, left_out, begin=now)
    fetches = one.stats.fetches
    one.folder.close("", now, {})  # the server does not hear of it
    one = worker(tmp_path, database, "one", web, ORDERING="best_first")
    late = worker(tmp_path, database, "late", web, ORDERING="best_first")
    assert sites_of(late).tracker.sites.fetches == sites_of(one).tracker.sites.fetches == fetches


def test_a_worker_that_never_comes_back_takes_nothing_along(tmp_path: Path, database: redis.Redis) -> None:
    web = RandomWeb(1)
    gone = worker(tmp_path, database, "gone", web)
    crawl_on(gone, web, 40)
    late = worker(tmp_path, database, "late", web)
    assert sites_of(late).tracker.sites.fetches == gone.stats.fetches > 10


def test_a_message_that_is_sent_again_is_kept_once(tmp_path: Path, database: redis.Redis) -> None:
    crawl = worker(tmp_path, database, "one", RandomWeb(1))
    assert isinstance(crawl.frontier, SharedFrontier)
    for number in (1, 2, 2, 1, 3):
        crawl.frontier.publish("http://a.example/", b"message", number)
    assert database.xlen(STREAM) == 3


def test_a_worker_whose_folder_is_gone_learns_from_its_own_messages(tmp_path: Path, database: redis.Redis) -> None:
    web = RandomWeb(1)
    one = worker(tmp_path / "before", database, "one", web)
    crawl_on(one, web, 15)
    one.frontier.close()
    again = worker(tmp_path / "after", database, "one", web)
    assert sites_of(again).tracker.sites.fetches == one.stats.fetches
    crawl_on(again, web, 5, begin=3000.0)
    late = worker(tmp_path, database, "late", web)
    assert again.stats.fetches > 0 and sites_of(late).tracker.sites.fetches == one.stats.fetches + again.stats.fetches


def test_the_server_keeps_the_latest_messages(tmp_path: Path, database: redis.Redis) -> None:
    crawl = worker(tmp_path, database, "one", RandomWeb(1), FRONTIER_REDIS_MESSAGES=100)
    assert isinstance(crawl.frontier, SharedFrontier)
    for number in range(1, 1001):
        crawl.frontier.publish("http://a.example/", dump_name(REFUSED, f"http://a.example/{number}"), number)
    assert 100 <= database.xlen(STREAM) <= 300


def test_without_messages_each_worker_learns_by_itself(tmp_path: Path, database: redis.Redis) -> None:
    web = RandomWeb(1)
    crawl = worker(tmp_path, database, "one", web, FRONTIER_REDIS_MESSAGES=0)
    crawl_on(crawl, web, 10)
    assert not crawl.peers.publishes and not database.exists(STREAM)


def test_a_message_of_another_version_is_told_once_and_passed_over(
    tmp_path: Path, database: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    web = RandomWeb(1)
    one = worker(tmp_path, database, "one", web)
    for _ in range(3):
        one.frontier.publish("http://a.example/", b"other\n?")
    crawl_on(one, web, 10)
    with caplog.at_level(logging.WARNING):
        late = worker(tmp_path, database, "late", web)
    assert [record.message.partition(" (")[0] for record in caplog.records].count(
        "Cannot read a message of another worker"
    ) == 1
    assert sites_of(late).tracker.sites.fetches == one.stats.fetches > 0


def test_an_idle_worker_hears_of_others_in_time(tmp_path: Path, database: redis.Redis) -> None:
    loop, heard = Loop(), list[bytes]()
    one = worker(tmp_path, database, "one", RandomWeb(1))
    idle = worker(tmp_path, database, "idle", RandomWeb(1))
    idle.frontier.when_published(heard.extend)
    loop.start(frontier_of(idle), 1)
    one.frontier.publish("http://a.example/", b"message")
    loop.run_until(lambda: heard, seconds=5.0)
    assert heard == [b"message"]
    idle.frontier.close()


# ------------------------------------------------------------ messages

words = st.text(st.characters(codec="utf-8"), max_size=12)
spans = st.tuples(st.integers(0, 50), st.integers(0, 50)).map(lambda ends: Span(*ends))
links = st.builds(Link, words, words, spans, spans, st.floats(0, 1), words)


@st.composite
def pages(draw: st.DrawFn) -> Page:
    terms = draw(st.lists(words, max_size=20))
    counts = {term: terms.count(term) for term in terms}
    found = tuple(draw(st.lists(links, max_size=5)))
    inherited = tuple(draw(st.lists(st.floats(0, 1), max_size=3)))
    return Page(
        "http://a.example/", draw(words), terms=terms, counts=counts, links=found, inherited=inherited, relevance=0.5
    )


@given(pages(), st.booleans())
def test_a_message_says_what_was_fetched(page: Page, with_page: bool) -> None:
    visit = Visit(page.url, 200, 5.0, 0.5, md5="0" * 32, relevance=page.relevance, title=page.title)
    event = FetchEvent(visit, [link.url for link in page.links], lambda: page)
    kept = original_of(page, sketch(page))
    published = {"duplicates": written_original(kept)}
    message = load(dump_fetch(event, published, with_page=with_page))
    assert message.event is not None
    assert (message.event.visit, list(message.event.links), message.published) == (visit, event.links, published)
    assert read_original(published["duplicates"]) == kept
    assert message.event.page() == (page if with_page else None)


def test_a_very_large_page_is_told_without_its_terms() -> None:
    terms = [str(number * 7919) for number in range(100_000)]
    page = Page("http://a.example/", terms=terms, links=(Link("http://b.example/", "", Span(0, 0), Span(0, 0)),))
    visit = Visit(page.url, 200, 5.0, md5="0" * 32)
    message = dump_fetch(FetchEvent(visit, ["http://b.example/"], lambda: page), {}, with_page=True)
    assert len(message) < LARGEST
    event = load(message).event
    assert event is not None and event.page() is None and list(event.links) == ["http://b.example/"]


@given(st.binary(max_size=200), st.integers(0, 100))
def test_damaged_messages_are_refused_by_name(damage: bytes, cut: int) -> None:
    whole = dump_name(REFUSED, "http://a.example/")
    for message in (damage, whole[:cut] + damage):
        try:
            assert load(message).kind == "refused"
        except UnreadableMessage:
            continue


def heard(message: list[Any]) -> list[Any]:
    """The message as the part of another worker receives it, without its kind."""
    found = load(dump_part(NAME, message))
    assert (found.kind, found.name) == (PART, NAME)
    kind, *values = found.content
    assert kind == message[0]
    return values


@pytest.mark.parametrize("kind", [SharedPage, SharedListing])
@given(data=st.data())
def test_what_is_attached_is_read_as_it_was_written(kind: type, data: st.DataObject) -> None:
    finite = st.floats(allow_nan=False, allow_infinity=False)
    text, number = st.text(st.characters(codec="utf-8")), st.integers(0, 2**31)
    if kind is SharedPage:
        kinds = text, number, text, number, number, finite, finite, finite, text, text, text
        told = SharedPage.of(CollectedPage(7, *(data.draw(kind) for kind in kinds)), data.draw(text), data.draw(text))
        assert SharedPage.checked(*heard(told.message())) == told
    else:
        listing = SharedListing(*(data.draw(kind) for kind in (text, text, number, finite, finite, text, text)))
        assert SharedListing.checked(*heard(listing.message())) == listing


@pytest.mark.parametrize(
    "content", [[REFUSED], [REFUSED, "a", "b"], [PART, "revisits"], [PART, None], ["collected", [1, 2]], ["fetch", 1]]
)
def test_what_is_no_message_is_unreadable(content: list[Any]) -> None:
    with pytest.raises(UnreadableMessage):
        load(orjson.dumps([VERSION, *content]))


@pytest.mark.parametrize(
    "content", [["collected", 1, 2], ["collected"], ["listed", "a", "b", "x", 1, 2, "", ""], 5, []]
)
def test_what_a_part_cannot_read_is_passed_over(
    tmp_path: Path, database: redis.Redis, caplog: pytest.LogCaptureFixture, content: Any
) -> None:
    web = RandomWeb(1)
    one = worker(tmp_path, database, "one", web, CRAWL_REVISIT="uniform")
    one.peers.publish("revisits", "http://a.example/", content)
    visit = Visit("http://a.example/1", 200, 5.0, md5="0" * 32)
    damaged = dump_fetch(FetchEvent(visit), {"duplicates": content}, with_page=False)
    one.frontier.publish("http://a.example/", b"one\n" + damaged)
    crawl_on(one, web, 10)
    with caplog.at_level(logging.WARNING):
        late = worker(tmp_path, database, "late", web, CRAWL_REVISIT="uniform")
    assert [record.message.partition(" (")[0] for record in caplog.records] == [
        "Cannot read a message of another worker"
    ]
    assert sites_of(late).tracker.sites.fetches > one.stats.fetches > 0
