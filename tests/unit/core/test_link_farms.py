"""Link farms in a whole crawl: the learned state is restored on resume, after a kill or not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.livecrawl import crawl_on
from support.parts import sites_of

from benchmarks.hostile_web import HostileWeb
from benchmarks.hostile_web.topic import topic_of
from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.records import CLIQUE, NEW_TEXT, NOVELTY, CrawlUrl, Fetch, Page

WEB = HostileWeb(good=30, kinds=["link_farm", "hidden_text", "stuffed"])
FETCH = Fetch(200, 1500.0, 0.1)
OPTIONS = read_options({"ORDERING": "dom", "POLITENESS_MIN_DELAY": 0, "FRONTIER_BATCH_SIZE": 1})


def live(folder: Path) -> Crawl:
    return assemble(topic_of(WEB), OPTIONS, clock=lambda: 1000.0, folder=folder)


def examined(crawl: Crawl, url: CrawlUrl) -> Page:
    return crawl.steps.examine(crawl.steps.read(url, WEB.get(url.url).body), FETCH)


def judged(page: Page) -> Page:
    """The page without its share of new text, as the texts shown by a host are not learned again."""
    return replace(page, signs={name: value for name, value in page.signs.items() if name not in (NOVELTY, NEW_TEXT)})


def known(crawl: Crawl) -> dict[str, Any]:
    """The known links of sites, and the resulting budgets."""
    farms, links = {}, {}
    for url in crawl.folder.history:
        site, budget = sites_of(crawl).tracker.farms.site(url), sites_of(crawl).tracker.sites.site(url)
        assert site is not None and budget is not None
        farms[url] = site.pages, site.spam, site.page_spam, site.degree, list(site.links)
        links[url] = (
            budget.links,
            budget.fetches,
            budget.worth,
            budget.new_link_ratio,
            budget.recommended,
            budget.single_source,
        )
    return {"farms": farms, "links": links, "trust": sites_of(crawl).tracker.sites.trust}


@pytest.mark.parametrize("kill", [False, True])
def test_a_resumed_crawl_finds_the_same_farms(tmp_path: Path, kill: bool) -> None:
    whole, halved = live(tmp_path / "whole"), live(tmp_path / "halved")
    crawl_on(whole, WEB, 80)
    crawl_on(halved, WEB, 80, kill=kill)
    if kill:
        assert halved.folder._lock is not None
        halved.folder._lock.close()
    else:
        halved.close("shutdown", 2000.0)
    resumed = live(tmp_path / "halved")
    assert known(resumed) == known(whole)
    waiting = sorted(whole.frontier.waiting(), key=lambda url: url.url)[::10]
    found = [[judged(examined(crawl, url)) for url in waiting] for crawl in (whole, resumed)]
    assert found[0] == found[1]
    assert sum(CLIQUE in page.signs for page in found[0]) > 5, "there are farms by now"
    for crawl in (whole, resumed):
        crawl.close("shutdown", 2000.0)
