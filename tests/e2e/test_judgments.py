"""A running or resumed crawl learns from a person's judgments of its pages: which orderings do, and what changes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.livecrawl import crawl_on
from support.markdown import doc, section
from support.webs import DictWeb

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.evaluation.simulation.runner import read_pages
from crawlproject.orderings.base import PageArchive
from crawlproject.orderings.registry import ORDERINGS, UNJUDGED
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.judgments.judgments import Judgment, add_judgment
from crawlproject.parts.judgments.part import Judgments
from crawlproject.records import Topic
from crawlproject.storage.read import read_links, read_visits
from crawlproject.urls.canonical import make_canonicalizer
from crawlproject.urls.hosts import origin_of
from crawlproject.webs.page_cache import ArchivedPages, JudgedPages
from crawlproject.webs.sample import SampleWeb

TOPIC = Topic(
    "reefs",
    ("coral reef", "corals", "bleaching"),
    ("http://www.lagoon-notes.example/", "http://www.nacre-divers.example/", "http://www.hobby-ring.example/"),
)
FETCHES = 40
JUDGED = 4  # number of best pages that are judged off topic, and of worst pages that are judged on topic
LIVE = [name for name, cls in ORDERINGS.items() if not cls.needs_targets]


@pytest.fixture(scope="module")
def web() -> SampleWeb:
    return SampleWeb()


@pytest.fixture(scope="module")
def archive(web: SampleWeb) -> PageArchive:
    """A tenth of the sample web."""
    options = read_options({})
    small = DictWeb({url: web.get(url) for url in [*TOPIC.seeds, *list(web.urls())[::10]]})
    cache = read_pages(small, "en", options)
    judge = TopicJudge(TOPIC.keywords, cache.reader.analyzer)
    return ArchivedPages(cache, JudgedPages(cache, judge), make_canonicalizer(options))


def open_crawl(ordering: str, folder: Path, archive: PageArchive) -> Crawl:
    settings = {"ORDERING": ordering, "POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, "FRONTIER_BATCH_SIZE": 2}
    return assemble(TOPIC, read_options(settings), clock=lambda: 2000.0, folder=folder, archive=archive)


def waiting_scores(crawl: Crawl) -> dict[str, float]:
    return {url.url: url.score for url in crawl.frontier.waiting()}


def scores(ordering: str, folder: Path, archive: PageArchive, web: SampleWeb, fetches: int = 0) -> dict[str, float]:
    """Open the crawl, make ``fetches`` fetches, and close it; return the scores of the waiting URLs."""
    crawl = open_crawl(ordering, folder, archive)
    crawl_on(crawl, web, fetches)
    found = waiting_scores(crawl)
    crawl.close("shutdown", 2000.0)
    return found


def judge(folder: Path) -> tuple[list[str], list[str]]:
    """Contradict the crawler; return the pages judged relevant, and the pages judged not relevant."""
    pages = [visit for visit in read_visits(folder) if visit.md5 and not visit.repeats]
    ranked = [visit.url for visit in sorted(pages, key=lambda visit: visit.relevance)]
    for said, urls in ((True, ranked[:JUDGED]), (False, ranked[-JUDGED:])):
        for url in urls:
            add_judgment(folder, Judgment(url, said, 1500.0))
    return ranked[:JUDGED], ranked[-JUDGED:]


def relearning(crawl: Crawl) -> Judgments:
    """The part of a crawl that learns from judgments."""
    part = crawl.part(Judgments)
    assert part is not None and part.relearn()
    return part


@pytest.mark.parametrize("ordering", LIVE)
def test_a_running_crawl_learns_what_a_resumed_one_would(
    ordering: str, tmp_path: Path, archive: PageArchive, web: SampleWeb
) -> None:
    crawl = open_crawl(ordering, tmp_path, archive)
    part = crawl.part(Judgments)
    assert (part is not None) == (ordering not in UNJUDGED)
    crawl_on(crawl, web, FETCHES)
    judge(tmp_path)
    counted = dict(crawl.stats.counters())
    before = waiting_scores(crawl)
    if part is not None:
        assert part.relearn()
        while not part.step():
            assert part.share is not None and 0 < part.share <= 1 and waiting_scores(crawl) == before
        assert part.share is None and not part.relearn()
        assert crawl.stats.counters() == counted  # pages that are read again count once
    live = waiting_scores(crawl)
    assert live.keys() == before.keys() and (live == before) == (ordering in UNJUDGED)
    crawl.close("shutdown", 2000.0)
    assert live == pytest.approx(scores(ordering, tmp_path, archive, web))


@pytest.mark.parametrize("ordering", ["best_first", "adaptive", "reinforcement", "fish_search"])
def test_the_crawl_goes_on_while_it_learns(ordering: str, tmp_path: Path, archive: PageArchive, web: SampleWeb) -> None:
    crawl = open_crawl(ordering, tmp_path, archive)
    crawl_on(crawl, web, FETCHES)
    judge(tmp_path)
    part = relearning(crawl)
    for number in range(20):
        part.step()
        crawl_on(crawl, web, 1, begin=1000.0 + FETCHES + number)
    while not part.step():
        pass
    live = waiting_scores(crawl)
    crawl.close("shutdown", 2000.0)
    resumed = scores(ordering, tmp_path, archive, web)
    assert live == pytest.approx(resumed)


def test_a_judgment_changes_which_url_is_next(tmp_path: Path, archive: PageArchive, web: SampleWeb) -> None:
    crawl = open_crawl("best_first", tmp_path, archive)
    crawl_on(crawl, web, FETCHES)
    links = dict(read_links(tmp_path))
    ranked = [url.url for url in sorted(crawl.frontier.waiting(), key=lambda url: -url.score)]
    liked = next(page for page, targets in links.items() if ranked[-1] in targets)  # its link target is ranked last
    add_judgment(tmp_path, Judgment(liked, True, 1500.0))
    part = relearning(crawl)
    while not part.step():
        pass
    taken = crawl.take(2000.0)
    assert taken is not None and taken.url in links[liked] and taken.score == 1.0
    crawl.close("shutdown", 2000.0)


def test_a_newer_judgment_takes_over(tmp_path: Path, archive: PageArchive, web: SampleWeb) -> None:
    crawl = open_crawl("best_first", tmp_path, archive)
    crawl_on(crawl, web, FETCHES)
    relevant, irrelevant = judge(tmp_path)
    part = relearning(crawl)
    assert not part.step()
    assert part.share
    for url in (*relevant, *irrelevant):
        add_judgment(tmp_path, Judgment(url, url in irrelevant, 1600.0))  # the opposite judgment
    assert part.relearn() and part.share == 0  # it starts again
    while not part.step():
        pass
    links = dict(read_links(tmp_path))
    after = waiting_scores(crawl)
    assert {after[url] for liked in irrelevant for url in links[liked] if url in after} == {1.0}
    crawl.close("shutdown", 2000.0)


@pytest.mark.parametrize("ordering", LIVE)
def test_the_orderings_that_look_at_pages_learn(
    ordering: str, tmp_path: Path, archive: PageArchive, web: SampleWeb
) -> None:
    before = scores(ordering, tmp_path, archive, web, FETCHES)
    judge(tmp_path)
    after = scores(ordering, tmp_path, archive, web)
    assert after.keys() == before.keys()
    assert (after == before) == (ordering in UNJUDGED)


def test_links_of_relevant_pages_rise_and_the_others_fall(tmp_path: Path, archive: PageArchive, web: SampleWeb) -> None:
    before = scores("best_first", tmp_path, archive, web, FETCHES)
    relevant, irrelevant = judge(tmp_path)
    after = scores("best_first", tmp_path, archive, web)
    links = dict(read_links(tmp_path))
    on_relevant = {target for url in relevant for target in links.get(url, ())} & before.keys()
    on_judged = on_relevant | {target for url in irrelevant for target in links.get(url, ())}
    on_judged |= {f"{origin_of(target)}/" for target in on_judged}  # the implied front pages
    assert on_relevant and all(after[url] == 1.0 for url in on_relevant)
    assert any(after[url] < before[url] for url in on_judged & before.keys() - on_relevant)
    assert all(after[url] == before[url] for url in before.keys() - on_judged)


def test_adaptive_looks_for_what_was_called_relevant(tmp_path: Path, archive: PageArchive, web: SampleWeb) -> None:
    before = scores("adaptive", tmp_path, archive, web, FETCHES)
    relevant, irrelevant = judge(tmp_path)
    after = scores("adaptive", tmp_path, archive, web)
    links = dict(read_links(tmp_path))

    def change(pages: list[str]) -> float:
        targets = {target for url in pages for target in links.get(url, ())} & before.keys()
        return sum(after[url] - before[url] for url in targets) / len(targets)

    assert change(relevant) > change(irrelevant)


def test_a_judgment_taken_back_leaves_nothing(tmp_path: Path, archive: PageArchive, web: SampleWeb) -> None:
    before = scores("adaptive", tmp_path, archive, web, FETCHES)
    relevant, irrelevant = judge(tmp_path)
    for url in (*relevant, *irrelevant):
        add_judgment(tmp_path, Judgment(url, None, 1600.0))
    assert scores("adaptive", tmp_path, archive, web) == before


def test_the_docs_list_the_orderings_that_do_not_learn() -> None:
    said = section(doc("crawl-folder.md"), "judgments.jsonl")
    sentence = said.partition("Judgments change nothing in")[2].partition(":")[0]
    assert set(re.findall(r"`(\w+)`", sentence)) == UNJUDGED - {"omniscient"}
