"""A page whose text scripts make is read, and judged by nobody: it is no page of the crawl, and speaks against none."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest
from support.livecrawl import finish, taken
from support.parts import rendering_of, sites_of
from support.scriptmade import NEED_A_BROWSER
from support.webs import html

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.orderings import registry
from crawlproject.parts.rendering.part import rendered_until
from crawlproject.records import Fetch, Page, Topic, Visit
from crawlproject.reports.report import write_report
from crawlproject.reports.why.lookup import url_status
from crawlproject.storage.append_log import read_lines
from crawlproject.storage.warc.index import read_entries
from crawlproject.storage.warc.record import Exchange

SEED = "http://a.example/"
SHELL = NEED_A_BROWSER["shell with menu"](Random(1)).encode()
PROSE = html("/1", "/2", "/3", text="coral reef")


def a_crawl(folder: Path, ordering: str = "dom", **settings: object) -> Crawl:
    asked = {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, "ORDERING": ordering, **settings}
    return assemble(Topic("reef", ("coral reef",), (SEED,)), read_options(asked), clock=lambda: 0.0, folder=folder)


def fetch(crawl: Crawl, body: bytes, now: float) -> Page:
    """The next URL is answered with this body."""
    url, fetched = taken(crawl, now), Fetch(200, now, 0.1, content_type="text/html")
    return finish(crawl, url, crawl.steps.examine(crawl.steps.read(url, body), fetched), body, fetched)


def lines(crawl: Crawl, name: str = "history.jsonl") -> list[dict]:
    return list(read_lines(crawl.folder.path / name))


def test_it_is_named_in_the_history_and_not_stored(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, CRAWL_MAX_PAGES=2, CRAWL_WARC=True)
    assert crawl.folder.archive is not None
    crawl.folder.archive.received(SEED, Exchange(SEED, 200, (), SHELL, 1.0))
    fetch(crawl, SHELL, 1.0)
    (line,) = lines(crawl)
    assert (line["error"], line["md5"], line["links"], line["signs"]["needs_browser"]) == ("needs_browser", "", 6, 1.0)
    assert lines(crawl, "items.jsonl") == [] and crawl.stats.pages == 0 and not crawl.end_reason(1.0)
    assert len(lines(crawl, "links.jsonl")) == 6 == crawl.stats.frontier_size, "its links are followed"
    assert crawl.stopping.harvest() == 0.0 and not crawl.stopping._pages, "nor does it count for the harvest"
    crawl.close("stopped", 2.0)
    assert [entry.url for entry in read_entries(tmp_path / "warc")] == [SEED], "but archived it is"


def test_its_links_count_as_those_of_a_mean_page(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path)
    first = fetch(crawl, PROSE, 1.0)
    unread = fetch(crawl, SHELL, 2.0)
    assert unread.relevance == first.relevance == crawl.folder.history.recent_relevance()
    assert crawl.stats.pages == 1


def test_shells_are_no_duplicates_of_each_other(tmp_path: Path) -> None:
    """They are alike, so that a crawl would learn that nothing in the URLs of such a site makes a difference."""
    crawl = a_crawl(tmp_path)
    fetch(crawl, PROSE, 1.0)
    pages = [fetch(crawl, NEED_A_BROWSER["shell with menu"](Random(1)).encode(), now) for now in (2.0, 3.0, 4.0)]
    assert not any(page.duplicate_of for page in pages)
    assert [line["error"] for line in lines(crawl)[1:]] == ["needs_browser"] * 3


@pytest.mark.parametrize(
    "ordering", [name for name in registry.ORDERINGS if not registry.ORDERINGS[name].needs_targets]
)
def test_every_ordering_follows_its_links_also_after_a_resume(tmp_path: Path, ordering: str) -> None:
    if registry.ORDERINGS[ordering].needs_archive or registry.ORDERINGS[ordering].reads_examples:
        pytest.skip("wants pages fetched before")
    crawl = a_crawl(tmp_path, ordering)
    fetch(crawl, SHELL, 1.0)
    waiting = {url.url for url in crawl.frontier.waiting()}
    crawl.close("stopped", 2.0)
    resumed = a_crawl(tmp_path, ordering)
    assert {url.url for url in resumed.frontier.waiting()} == waiting
    fetch(resumed, PROSE, 3.0)
    resumed.close("stopped", 4.0)


def test_a_lost_frontier_gets_its_links_back(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path)
    fetch(crawl, SHELL, 1.0)
    fetch(crawl, PROSE, 2.0)
    waiting = {url.url for url in crawl.frontier.waiting()}
    crawl.close("stopped", 3.0)
    shutil.rmtree(tmp_path / "frontier")
    (tmp_path / "items.jsonl").unlink()
    resumed = a_crawl(tmp_path)
    assert {url.url for url in resumed.frontier.waiting()} == waiting
    assert len(lines(resumed, "links.jsonl")) == 9 and len(lines(resumed, "items.jsonl")) == 1
    resumed.close("stopped", 4.0)


def test_a_site_of_shells_pays_for_them_and_earns_nothing(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path)
    fetch(crawl, SHELL, 1.0)
    site = sites_of(crawl).tracker.sites.site(SEED)
    assert site is not None and site.fetches == 1.0 and site.worth == 0.0


def test_a_rendered_page_is_kept_at_a_price_and_remembered(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, CRAWL_RENDER="needed", CRAWL_RENDER_COST=3)
    url, fetched = taken(crawl), Fetch(200, 1.0, 0.5, etag='"1"')
    plain = crawl.steps.read(url, SHELL, robots_tag="noindex")
    assert rendering_of(crawl).wants(plain)
    fetched = rendered_until(fetched, 4.0)
    assert (fetched.at, fetched.seconds, fetched.etag) == (4.0, 3.5, ""), "the host was visited until then"
    html = "<p>" + "coral reef " * 30 + '<a href="/new">reef</a>'
    unkept, _ = rendering_of(crawl).page(crawl.steps, url, plain, html, robots_tag="noindex", now=4.0)
    assert not unkept.indexable, "what the headers asked for holds"
    page, body = rendering_of(crawl).page(crawl.steps, url, plain, html, robots_tag="", now=4.0)
    finish(crawl, url, crawl.steps.examine(page, fetched), body, fetched)
    (line,) = lines(crawl)
    assert line["signs"]["rendered"] == 3.0 and line["md5"] and lines(crawl, "items.jsonl")[0]["rendered"] is True
    site = sites_of(crawl).tracker.sites.site(SEED)
    assert site is not None and site.fetches == 4.0
    crawl.close("stopped", 5.0)
    resumed = a_crawl(tmp_path, CRAWL_RENDER="needed")
    for _ in range(2):
        unread, nothing = rendering_of(resumed).page(resumed.steps, url, plain, "", robots_tag="", now=6.0)
        assert nothing == b"" and unread.needs_browser
    assert rendering_of(resumed).wants(plain)
    resumed.close("stopped", 7.0)


def test_a_page_with_text_is_not_replaced_by_its_beginning(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, CRAWL_RENDER="always")
    url = taken(crawl)
    plain = crawl.steps.read(url, b"<title>Reef</title><p>" + b"coral reef " * 30)
    rendering, head = rendering_of(crawl), "<title>Reef</title>"
    page, body = rendering.page(crawl.steps, url, plain, head, robots_tag="", now=4.0, is_whole=False)
    assert page.text == plain.text and body == b"" and "rendered" in page.signs
    page, body = rendering.page(crawl.steps, url, plain, head, robots_tag="", now=4.0)
    assert page.text == "" and body == head.encode(), "its scripts have taken the text away"
    shell = crawl.steps.read(url, SHELL)
    shown = "<p>" + "coral reef " * 30
    assert rendering.page(crawl.steps, url, shell, shown, robots_tag="", now=4.0, is_whole=False)[1] == shown.encode()
    crawl.close("stopped", 5.0)


def test_report_and_why_name_it(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path)
    fetch(crawl, SHELL, 1.0)
    crawl.close("stopped", 2.0)
    assert "needs_browser" in write_report(tmp_path).read_text()
    found = url_status(tmp_path, SEED).visit
    assert isinstance(found, Visit) and found.error == "needs_browser"
