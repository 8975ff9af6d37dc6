"""The front page of a linked host is fetched, although no page links to it, and does not appear in the link log."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from support.pages import a_context
from support.webs import DictWeb, page

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.ordering_feed import OrderingFeed
from crawlproject.core.parts import Parts
from crawlproject.evaluation.simulation.runner import Runner
from crawlproject.orderings.registry import ORDERINGS, make_ordering
from crawlproject.parts.front_pages.part import FrontPages
from crawlproject.parts.front_pages.why import sentences
from crawlproject.records import IMPLIED, Fetch, Link, Page, Span, Topic
from crawlproject.reports.why.asked import Asked
from crawlproject.reports.why.lookup import url_status
from crawlproject.storage.append_log import read_lines
from crawlproject.storage.read import read_info, read_links

SEED = "http://seed.example/start.html"
FRONT = "http://reef.example:8080/"


def link(url: str, score: float = 0.0) -> Link:
    return Link(url, "words", Span(2, 3), Span(1, 4), score, "html body a")


def page_with(*links: Link, url: str = SEED) -> Page:
    return Page(url, terms=("coral", "reef", "words", "fish", "x"), links=links)


def test_it_has_the_context_of_the_first_link_and_no_anchor() -> None:
    links = link(f"{FRONT}~ann/x", 0.7), link(f"{FRONT}other", 0.1), link("https://reef.example/x?a=1/2")
    implied = list(FrontPages().implied(page_with(*links)))
    assert implied == [
        Link(FRONT, "", Span(2, 2), Span(1, 4), 0.7, IMPLIED),
        Link("https://reef.example/", "", Span(2, 2), Span(1, 4), 0.0, IMPLIED),
    ]


def test_none_is_implied_that_the_page_has_or_is() -> None:
    home = "http://seed.example/"
    assert not list(FrontPages().implied(page_with(link(f"{FRONT}x"), link(FRONT))))
    assert not list(FrontPages().implied(page_with(link(f"{home}x"), url=home)))
    assert not list(FrontPages().implied(page_with()))


@pytest.mark.parametrize("name", ORDERINGS)
def test_every_ordering_scores_it_once_after_the_links_of_the_page(name: str) -> None:
    needy = ORDERINGS[name].needs_archive or ORDERINGS[name].needs_targets or ORDERINGS[name].reads_examples
    if needy:
        pytest.skip("needs an archive, targets or examples")
    feed = OrderingFeed(make_ordering(name, a_context(seeds=[SEED]), {}), {}, Parts([FrontPages()]))
    page = page_with(link(f"{FRONT}x", 0.7))
    feed.observe(page)
    *_, front = feed.follow(page)
    assert front is not None and math.isfinite(front.score)
    assert (front.url, front.depth, front.parent, front.anchor, front.context_score) == (FRONT, 1, SEED, "", 0.7)
    again = page_with(link(f"{FRONT}y"), url="http://seed.example/2.html")
    feed.observe(again)
    assert FRONT not in [url.url for url in feed.follow(again) if url is not None], "it was offered before"


# ---------------------------------------------------------------- a crawl

WEB = DictWeb(
    dict(
        [
            page(SEED, f"{FRONT}~ann/deep.html", text="coral reef"),
            page(f"{FRONT}~ann/deep.html", text="fish"),
            page(FRONT, f"{FRONT}only-from-here.html", text="coral reef fish"),
            page(f"{FRONT}only-from-here.html", text="reef"),
            page("http://seed.example/", text="engine"),
        ]
    )
)


def crawled(folder: Path, ordering: str = "adaptive", **settings: object) -> Path:
    """The folder of a rehearsal on ``WEB``."""
    stage = Runner(WEB, lambda _: {"POLITENESS_MIN_DELAY": 0, **settings}, pages=100, agent="topical-crawler")
    ((_, run, _),) = stage.rehearse(Topic("reef", ("coral reef",), (SEED,)), [ordering], folder)
    return run


def visits(run: Path) -> dict[str, str]:
    """The fetched URLs and their parents."""
    return {line["url"]: line["parent"] for line in read_lines(run / "history.jsonl")}


@pytest.mark.parametrize("ordering", ["adaptive", "dom", "breadth_first", "opic"])
def test_what_only_the_front_page_leads_to_is_found(tmp_path: Path, ordering: str) -> None:
    found = visits(crawled(tmp_path, ordering))
    assert found[FRONT] == SEED and found[f"{FRONT}only-from-here.html"] == FRONT
    assert "http://seed.example/" not in found, "no link leads to its host"
    assert FRONT not in visits(crawled(tmp_path / "off", ordering, CRAWL_FRONT_PAGES=False))


def test_it_obeys_the_scope(tmp_path: Path) -> None:
    run = crawled(tmp_path, CRAWL_ALLOWED_DOMAINS=["seed.example"])
    assert list(visits(run)) == [SEED]


def test_why_says_that_it_is_one(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    options = read_options({"ORDERING": "breadth_first", "POLITENESS_MIN_DELAY": 0})
    crawl = assemble(Topic("reef", ("coral reef",), (SEED,)), options, clock=lambda: 0.0, folder=folder)
    for now in range(1000, 1010):
        if (url := crawl.take(now)) is not None:
            reply, fetch = WEB.get(url.url), Fetch(200, now, 0.1)
            page, steps = crawl.receive(url, reply, fetch), crawl.steps
            assert page is not None
            page = steps.score_links(steps.score_page(steps.examine(page, fetch)))
            steps.keep(page, steps.visit(url, page, reply.body, fetch))
            steps.offer(page, fetch)
    crawl.close("finished", 2000.0)

    def said(url: str) -> list[str]:
        return list(sentences(Asked(folder, read_info(folder), url_status(folder, url), None, 2000.0)))

    assert said(FRONT) == [
        "That page does not link to it, but to others of its host, whose front page it is (CRAWL_FRONT_PAGES)."
    ]
    assert not said(f"{FRONT}only-from-here.html") and not said(SEED)
    assert FRONT not in {target for _, targets in read_links(folder) for target in targets}
