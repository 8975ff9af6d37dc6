"""The probes of a crawl: which ones wait, the consequences of their responses, and their state after a resume."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.events import page_event
from support.pages import a_link
from support.pages import random_terms as text

from crawlproject.configuration import read_options
from crawlproject.errors import BadCrawlDir
from crawlproject.frontier.factory import open_frontier
from crawlproject.parts.probes.part import Probes
from crawlproject.parts.probes.probe_log import (
    AGAIN,
    BROWSER,
    MISSING,
    OURS,
    STRANGER,
    ProbeLog,
    ProbeResponse,
    read_findings,
)
from crawlproject.parts.probes.report import read_probes
from crawlproject.parts.probes.site_trust import SiteTrust
from crawlproject.parts.probes.soft_404 import Soft404Detector
from crawlproject.records import FIRST, LOGGED_IN, PROBE, QUERY, CrawlUrl, Fetch, Page
from crawlproject.urls.post import is_post, post_url

URL = "http://www.a.example/dir/page.html"
FETCH = Fetch(200, 1.0, 0.1)


def a_page(url: str = URL, seed: object = "ours", **fields: object) -> Page:
    links = (a_link("http://www.a.example/"), a_link("http://b.example/"))
    return Page(url, terms=text(seed), links=links, **{"score": 0.5, "depth": 2, **fields})


def replay(probes: Probes, folder: Path) -> None:
    for finding in read_findings(folder):
        probes.apply_finding(finding)


def some_probes(folder: Path | None = None, *, share: float = 1.0, after: int = 1, logged_in: float = 0.0) -> Probes:
    log = ProbeLog(folder) if folder else None
    missing, trust = Soft404Detector(after=after), SiteTrust()
    return Probes(share=share, logged_in=logged_in, missing=missing, trust=trust, log=log)


def answer(page: Page | None = None, status: int = 200, **fields: str) -> ProbeResponse:
    return ProbeResponse(Fetch(status, 7.0, 0.25), page, **fields)


def run(probes: Probes, record: CrawlUrl, browsers: Page, ours: Page) -> list[CrawlUrl]:
    """Answer a cloaking probe to its end; return the requested records."""
    asked = [record]
    for each in asked:
        asked += probes.answered(each, answer(ours if each.variant in OURS else browsers))
    return asked


def test_what_is_wanted_after_a_page(tmp_path: Path) -> None:
    probes = some_probes()
    page = a_page()
    probes.learn(page_event(page))
    browser, missing = probes.kept(page, FETCH)
    assert (browser.url, browser.kind, browser.variant) == (URL, PROBE, BROWSER) and browser.inherited
    assert missing.variant == MISSING and missing.url.startswith("http://www.a.example/dir/")
    for record in (browser, missing):
        assert (record.parent, record.depth) == (URL, 3)
        assert (record.score, record.precedence) == (page.score, FIRST), "before what waits, whatever it is worth"
    assert [record.url for record in probes.kept(page, FETCH)] == [browser.url, missing.url], (
        "a page that is fetched again"
    )


def test_a_result_page_of_a_form_is_not_fetched_as_a_browser() -> None:
    probes = some_probes(logged_in=1.0)
    page = a_page(f"{URL}?q=reef", kind=QUERY, signs={LOGGED_IN: 1.0})
    probes.learn(page_event(page))
    assert [record.variant for record in probes.kept(page, FETCH)] == [MISSING]


def test_an_answer_to_a_post_is_not_fetched_as_a_browser() -> None:
    probes = some_probes()
    page = a_page(post_url("http://www.a.example/find", "q=reef"))
    probes.learn(page_event(page))
    (missing,) = probes.kept(page, FETCH)
    assert missing.variant == MISSING and not is_post(missing.url) and "#" not in missing.url


def test_what_is_not_wanted() -> None:
    off = some_probes(share=0.0, after=0)
    off.learn(page_event(a_page()))
    assert not list(off.kept(a_page(), FETCH)) and off.examine(page := a_page(), FETCH) is page
    probes = some_probes(after=0)
    assert not list(probes.kept(a_page(indexable=False), FETCH))
    assert not list(probes.kept(Page(URL, terms=text(1, 10)), FETCH)), "too short to tell"


def test_a_cloaking_site_is_found_and_doubted(tmp_path: Path) -> None:
    probes = some_probes(tmp_path, share=0.001, after=0)
    first = some_probes(after=0).kept(a_page(), FETCH).__next__()
    assert len(run(probes, first, a_page(seed="shop"), a_page())) == 3
    lines = list(read_findings(tmp_path))
    assert [line.verdict for line in lines] == ["", "", "cloaked"] and lines[2].hidden > 0.9
    assert {line.page for line in lines} == {URL} and lines[0].at == 7.0
    assert probes.examine(a_page("http://a.example/next"), FETCH).signs == {"cloaked": 0.5}
    assert list(probes.kept(a_page("http://a.example/next"), FETCH)), "its pages are looked at closely"
    assert probes.counters() == {"probes/fetches": 3, "probes/cloaking/cloaked": 1}


def test_a_personalised_page_is_found_and_its_site_remembered(tmp_path: Path) -> None:
    probes = some_probes(tmp_path, share=0, after=0, logged_in=1.0)
    mine = a_page(signs={LOGGED_IN: 1.0})
    assert not list(probes.kept(a_page(), FETCH)), "no login was sent for it"
    (stranger,) = probes.kept(mine, FETCH)
    assert (stranger.url, stranger.variant, stranger.precedence) == (URL, STRANGER, FIRST)
    assert len(run(probes, stranger, a_page(seed="shop"), mine)) == 3
    (same,) = probes.kept(a_page("http://b.example/", signs={LOGGED_IN: 1.0}), FETCH)
    assert len(run(probes, same, a_page(), a_page())) == 1
    resumed = some_probes(tmp_path, share=0, after=0, logged_in=1.0)
    replay(resumed, tmp_path)
    for each in (probes, resumed):
        # One of one probe: 1 / (1 + 1), and no spam for it.
        found = each.examine(a_page("http://a.example/next", signs={LOGGED_IN: 1.0}), FETCH)
        assert found.signs == {LOGGED_IN: 1.0, "personalised": 0.5} and found.spam == 0.0
        assert each.examine(other := a_page("http://b.example/2", signs={LOGGED_IN: 1.0}), FETCH) is other
        assert each.counters() == {"probes/fetches": 4, "probes/login/personalised": 1, "probes/login/honest": 1}
    said = read_probes(tmp_path)
    assert said is not None and said.logins == {"personalised": 1, "honest": 1} and not said.pages and not said.cloaking


def test_a_host_that_turns_a_probe_away_is_left_alone(tmp_path: Path) -> None:
    probes = some_probes(tmp_path)
    page = a_page()
    probes.learn(page_event(page))
    browser, _ = probes.kept(page, FETCH)
    assert probes.answered(browser, answer(status=403, error="http 403")) == []
    assert not list(probes.kept(a_page("http://www.a.example/other"), FETCH))
    assert list(probes.kept(a_page("http://c.example/other"), FETCH))


def test_a_probe_that_robots_txt_forbids_is_noted(tmp_path: Path) -> None:
    probes = some_probes(tmp_path)
    probes.refused(CrawlUrl(URL, 1.0, parent=URL, kind=PROBE, variant=BROWSER), "robots/forbidden")
    (line,) = read_findings(tmp_path)
    assert (line.verdict, line.why, line.status) == ("undecided", "robots/forbidden", 0)
    assert probes.counters() == {"probes/cloaking/undecided": 1, "probes/fetches": 0}


def test_a_resumed_crawl_knows_what_was_found(tmp_path: Path) -> None:
    probes = some_probes(tmp_path)
    page = a_page()
    probes.learn(page_event(page))
    browser, missing = probes.kept(page, FETCH)
    asked = run(probes, browser, a_page(seed="shop"), a_page())
    probes.answered(missing, answer(Page(missing.url, "Gone", terms=text("gone"))))

    resumed = some_probes(tmp_path)
    replay(resumed, tmp_path)
    resumed.learn(page_event(page))
    gone = Page("http://www.a.example/dir/gone.html", "Gone", terms=text("gone"), depth=1)
    for each in (probes, resumed):
        assert each.examine(gone, FETCH).page_type == "soft_404"
        assert each.trust.distrust(URL) == 0.5
        assert [record.variant for record in each.kept(page, FETCH)] == [BROWSER, MISSING]
    assert resumed.counters() == probes.counters()
    # Killed between the line and the end of the lease: the last step is taken again, and changes nothing.
    assert resumed.answered(asked[-1], answer(a_page())) == []
    assert resumed.trust.distrust(URL) == 0.5 and len(list(read_findings(tmp_path))) == 4


def test_a_resumed_crawl_that_probes_after_fewer_pages_asks_the_hosts_that_have_more(tmp_path: Path) -> None:
    def asked_after(probes: Probes, number: int) -> list[CrawlUrl]:
        page = a_page(f"http://a.example/{number}/page")
        probes.learn(page_event(page))
        return list(probes.kept(page, FETCH))

    earlier = some_probes(tmp_path, share=0, after=20)
    assert not any(asked_after(earlier, number) for number in range(3))
    resumed = some_probes(tmp_path, share=0, after=2)
    resumed.set_learned(earlier.learned())
    (missing,) = asked_after(resumed, 3)
    assert missing.variant == MISSING and not asked_after(resumed, 4), "its probe waits"
    resumed.answered(missing, answer(status=404))
    assert not asked_after(resumed, 5)
    again = some_probes(tmp_path, share=0, after=1)
    again.set_learned(resumed.learned())
    replay(again, tmp_path)
    assert not asked_after(again, 6), "it has answered"


def test_a_step_that_left_a_question_open_is_asked_again_after_a_kill(tmp_path: Path) -> None:
    probes = some_probes(tmp_path, after=0)
    (browser,) = probes.kept(a_page(), FETCH)
    assert probes.answered(browser, answer(a_page(seed="shop")))
    resumed = some_probes(tmp_path, after=0)
    replay(resumed, tmp_path)
    assert [record.variant for record in resumed.answered(browser, answer(a_page(seed="shop")))] == [AGAIN]


LINE = {"url": URL, "step": MISSING, "page": URL, "at": 1, "seconds": 0.5, "status": 200, "verdict": "soft_404"}


@pytest.mark.parametrize(
    "line",
    [
        [],
        {"url": URL},
        {**LINE, "at": "now"},
        {**LINE, "text": "?"},
        {**LINE, "text": "AAA="},
        {**LINE, "more": 1},
        {**LINE, "url": "x"},
        {**LINE, "page": "http:///"},
    ],
    ids=["a list", "too few", "a word", "no base64", "half a digest", "too many", "no URL", "no host"],
)
def test_a_damaged_log_is_named(tmp_path: Path, line: object) -> None:
    (tmp_path / "probes.jsonl").write_text(f"{json.dumps(LINE)}\n{json.dumps(line)}\n")
    with pytest.raises(BadCrawlDir, match=r"probes\.jsonl, line 2"):
        replay(some_probes(tmp_path), tmp_path)


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_what_a_probe_carries_survives_the_frontier(tmp_path: Path, kind: str) -> None:
    page = a_page()
    (browser,) = some_probes(after=0).kept(page, FETCH)
    options = read_options({"FRONTIER": kind, "POLITENESS_MIN_DELAY": 0})
    frontier = open_frontier(options, tmp_path, clock=lambda: 0.0, commit=1, name="x")
    assert frontier.put(browser) and not frontier.put(browser)
    frontier.close()
    frontier = open_frontier(options, tmp_path, clock=lambda: 0.0, commit=1, name="x")
    assert frontier.take(1.0) == browser
    frontier.close()
