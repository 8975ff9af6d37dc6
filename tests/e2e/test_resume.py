"""A resumed crawl continues as if it had never been stopped, whatever its ordering has learnt."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from support.livecrawl import finish, taken
from support.webs import DictWeb

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.evaluation.simulation.runner import read_pages
from crawlproject.options import Options
from crawlproject.orderings.base import PageArchive
from crawlproject.orderings.registry import ORDERINGS, parameters_of
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import Fetch, Topic
from crawlproject.urls.canonical import make_canonicalizer
from crawlproject.webs.page_cache import ArchivedPages, JudgedPages, location
from crawlproject.webs.sample import SampleWeb

TOPIC = Topic(
    "reefs",
    ("coral reef", "corals", "bleaching"),
    ("http://www.lagoon-notes.example/", "http://www.nacre-divers.example/", "http://www.hobby-ring.example/"),
)
FETCHES = 60
# A batch of Best-N-First is chosen anew after a stop.
LEARNING = [name for name, cls in ORDERINGS.items() if cls.learns and name != "local_rank"]
OFTEN = {"distill_every": 10, "train_every": 10}  # periodic work runs both before and after the stop


class Outcome(NamedTuple):
    """The fetched URLs in order with their scores; and the scores of the waiting URLs."""

    fetched: list[tuple[str, float]]
    waiting: dict[str, float]


class Laboratory:
    """The sample web, and a tenth of it as the archive for orderings that need one.

    Two things are excluded because a resumed ordering cannot restore them: the text of pages that asked not to be kept,
    and the moment at which robots.txt refused a URL. Here robots.txt refuses no request, and no page says noindex.
    """

    def __init__(self) -> None:
        self.web = SampleWeb()
        options = read_options({})
        small = DictWeb({url: self.web.get(url) for url in [*TOPIC.seeds, *list(self.web.urls())[::10]]})
        cache = read_pages(small, "en", options)
        judged = JudgedPages(cache, TopicJudge(TOPIC.keywords, cache.reader.analyzer))
        self.archive: PageArchive = ArchivedPages(cache, judged, make_canonicalizer(options))

    def crawl(self, ordering: str, folder: Path, *stops: int) -> Outcome:
        """Fetch ``FETCHES`` URLs; after each number of fetches in ``stops`` the crawl is closed and resumed."""
        fetched: list[tuple[str, float]] = []
        for stop in (*stops, FETCHES):
            crawl = assemble(TOPIC, _options(ordering), clock=lambda: 0.0, folder=folder, archive=self.archive)
            while len(fetched) < stop:
                fetched.append(self._fetch(crawl, float(len(fetched))))
            waiting = {url.url: url.score for url in crawl.frontier.waiting()}
            crawl.close("stopped", float(stop))
        return Outcome(fetched, waiting)

    def _fetch(self, crawl: Crawl, now: float) -> tuple[str, float]:
        url = taken(crawl, now)
        reply, ended = self.web.get(url.url), Fetch(200, now, 0.1)
        if reply.status == 200:
            body = reply.body.replace(b"noindex", b"")
            finish(crawl, url, crawl.steps.read(url, body), body, ended)
        elif location(reply):
            crawl.redirect(url, crawl.canonicalize(location(reply), url.url), ended)
        else:
            crawl.fail(url, f"http {reply.status}", ended)
        return url.url, url.score


def _options(ordering: str) -> Options:
    own = parameters_of(ORDERINGS[ordering])
    often = {f"ORDERING_{name.upper()}": value for name, value in OFTEN.items() if name in own}
    impatient = {"FRONTIER_BATCH_SIZE": 2, "POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0}
    return read_options({"ORDERING": ordering, "TRAP_MAX_URLS_PER_HOST": 30, **impatient, **often})


@pytest.fixture(scope="module")
def laboratory() -> Laboratory:
    return Laboratory()


@pytest.mark.parametrize("ordering", LEARNING)
def test_a_resumed_crawl_continues_with_the_same_scores(ordering: str, laboratory: Laboratory, tmp_path: Path) -> None:
    whole = laboratory.crawl(ordering, tmp_path / "whole")
    resumed = laboratory.crawl(ordering, tmp_path / "resumed", 8, 35)
    assert resumed.fetched == whole.fetched
    assert resumed.waiting == whole.waiting
