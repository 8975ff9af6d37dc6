"""Probes among the steps of a crawl: they wait, rest and end like URLs, and do not touch history and orderings."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from support.livecrawl import finish
from support.parts import probes_of, sites_of
from support.webs import html

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.parts.probes.probe_log import BROWSER, MISSING, read_findings
from crawlproject.records import PROBE, CrawlUrl, Fetch, FetchEvent, Page, Reply, Topic, Visit
from crawlproject.storage.append_log import read_lines

SEED = "http://www.a.example/"
WORDS = [f"w{number}x" for number in range(3000)]


def text(seed: object) -> str:
    return "coral reef " + " ".join(Random(str(seed)).choices(WORDS, k=150))


def a_crawl(folder: Path, **settings: object) -> Crawl:
    defaults = {"ORDERING": "best_first", "POLITENESS_MIN_DELAY": 1, "POLITENESS_FACTOR": 0, "FRONTIER_BATCH_SIZE": 1}
    probing = {"CRAWL_CLOAKING_PROBE": 1, "CRAWL_SOFT_404_PROBE": 1}
    topic = Topic("reef", ("coral reef",), (SEED,))
    return assemble(topic, read_options({**defaults, **probing, **settings}), clock=lambda: 0.0, folder=folder)


def receive(crawl: Crawl, url: CrawlUrl, body: bytes, now: float) -> None:
    fetch = Fetch(200, now, 0.1)
    finish(crawl, url, crawl.steps.examine(crawl.steps.read(url, body), fetch), body, fetch)


def taken(crawl: Crawl, now: float, step: str | None = None) -> CrawlUrl:
    """Take a URL at ``now`` and check that it is a probe of this step, or with None a page."""
    url = crawl.take(now)
    assert url is not None and (url.variant or None) == step
    return url


def begun(folder: Path, **settings: object) -> tuple[Crawl, CrawlUrl, CrawlUrl]:
    """A crawl after its seed, which links to two pages, and the resulting probes: as a browser, and for a missing page."""
    crawl = a_crawl(folder, **settings)
    receive(crawl, taken(crawl, 0.0), html("/one", "/two", text=text("home")), 10.0)
    first = crawl.take(12.0)
    assert first is not None
    crawl.frontier.release(first.key, 12.0, 0.0, picked=False)
    probes = [url for url in crawl.frontier.waiting() if url.kind == PROBE]
    by_step = {url.variant: url for url in probes}
    assert set(by_step) == {BROWSER, MISSING}, "both go before the links"
    return crawl, by_step[BROWSER], by_step[MISSING]


def lines(crawl: Crawl) -> list[dict]:
    return list(read_lines(crawl.folder.path / "history.jsonl"))


def test_probes_take_their_turn(tmp_path: Path) -> None:
    crawl, _, _ = begun(tmp_path)
    first = crawl.take(13.5)
    assert first is not None and first.kind == PROBE
    assert crawl.take(13.5) is None, "one fetch of a host at a time"
    crawl.receive(first, Reply(first.url, 404), Fetch(404, 14.0, 0.2))
    assert crawl.take(14.5) is None and crawl.frontier.next_due(14.5) == pytest.approx(15.0, abs=0.01)
    assert len(lines(crawl)) == 1 and crawl.stats.pages == 1


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(("asked", "rest"), [(100.0, 100.0), (5.0, 20.0)])
def test_a_host_that_asks_a_probe_for_rest_gets_the_longer_one(
    tmp_path: Path, status: int, asked: float, rest: float
) -> None:
    crawl, _, _ = begun(tmp_path, CRAWL_BLOCKED_REST=20)
    probe = crawl.take(13.5)
    assert probe is not None
    crawl.fail(probe, f"http {status}", Fetch(status, 14.0, 0.1, asked_rest=asked))
    assert crawl.frontier.next_due(14.0) == pytest.approx(14.0 + rest + 1.0, abs=0.01)
    assert [f.verdict for f in read_findings(tmp_path)] == ["undecided"] and len(lines(crawl)) == 1


def test_a_host_that_rests_after_a_block_is_left_alone_by_probes(tmp_path: Path) -> None:
    crawl, _, _ = begun(tmp_path, CRAWL_BLOCKED_REST=60)
    sites_of(crawl).tracker.learn(FetchEvent(Visit(SEED, 503, 13.0, error="http 503")))
    assert crawl.take(20.0) is None
    later = crawl.take(80.0)
    assert later is not None and later.kind == PROBE


def test_a_site_over_budget_is_probed_all_the_same(tmp_path: Path) -> None:
    crawl, _, _ = begun(tmp_path)
    sites_of(crawl).tracker.sites.set_distrust("a.example", 0.9)
    probe = crawl.take(20.0)
    assert probe is not None and probe.kind == PROBE
    crawl.fail(probe, "x", Fetch(200, 20.0, 0.1))
    site = sites_of(crawl).tracker.sites.site(SEED)
    assert site is not None and site.fetches == 1.0, "and pays nothing for it"


def test_a_probe_that_is_refused_or_lost_leaves_no_line_in_the_history(tmp_path: Path) -> None:
    crawl, browser, _ = begun(tmp_path)
    first = crawl.take(13.5)
    assert first is not None
    crawl.refuse(first, "robots/forbidden")
    second = crawl.take(13.5)
    assert second is not None and second.kind == PROBE, "no visit, no rest"
    crawl.fail(second, "TimeoutError", Fetch(0, 14.0, 0.5))
    assert {f.why for f in read_findings(tmp_path)} == {"robots/forbidden", "TimeoutError"}
    assert len(lines(crawl)) == 1 and not crawl.folder.refusals.counts and browser.parent == SEED
    assert crawl.frontier.leases() == 0


def test_a_redirect_to_where_nothing_leads_ends_as_a_soft_404_once_that_place_is_known(tmp_path: Path) -> None:
    crawl, _, missing = begun(tmp_path, CRAWL_CLOAKING_PROBE=1)
    nowhere = "http://www.a.example/sorry"
    for now in (13.5, 16.0):
        probe = crawl.take(now)
        assert probe is not None
        headers = {"location": nowhere} if probe.key == missing.key else {}
        crawl.receive(probe, Reply(probe.url, 302, headers), Fetch(302, now, 0.1))
    ends = []
    for now in (20.0, 30.0):
        url = taken(crawl, now)
        ends.append(crawl.redirect(url, nowhere, Fetch(302, now, 0.1)))
    assert ends == [True, False]
    told = [(line["redirect"], line["error"]) for line in lines(crawl)[1:]]
    assert told == [(nowhere, ""), ("", "soft_404")]


@pytest.mark.parametrize("frontier", ["memory", "disk"])
def test_a_resumed_crawl_knows_its_probes(tmp_path: Path, frontier: str) -> None:
    crawl, browser, missing = begun(tmp_path, FRONTIER=frontier)
    shop = Page(SEED, terms=text("shop").split())
    now = 13.5
    for _ in range(4):
        probe = crawl.take(now)
        assert probe is not None
        step = probe.variant
        page = (
            crawl.steps.read(CrawlUrl(SEED, 1.0), html("/one", "/two", text=text("home"))) if step == "again" else shop
        )
        status = 404 if step == MISSING else 200
        crawl.receive(probe, Reply(probe.url, status), Fetch(status, now, 0.1), page)
        now += 2.0
    assert probes_of(crawl).trust.distrust(SEED) == 0.5
    crawl.close("shutdown", now)

    resumed = a_crawl(tmp_path, FRONTIER=frontier)
    assert probes_of(resumed).trust.distrust(SEED) == 0.5
    site = sites_of(resumed).tracker.sites.site(SEED)
    assert site is not None and site.distrust == 0.5
    assert resumed.stats.counters()["probes/fetches"] == 4 and resumed.stats.counters()["probes/cloaking/cloaked"] == 1
    assert browser.key in resumed.frontier and missing.key in resumed.frontier, "nothing is asked twice"
    url = taken(resumed, now + 10.0)
    receive(resumed, url, html(text=text(url.url)), now + 11.0)
    line = lines(resumed)[-1]
    assert line["signs"]["cloaked"] == 0.5 == line["spam"]
    resumed.close("shutdown", now + 12.0)
