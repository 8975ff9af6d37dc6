"""A history with several lines per URL, as seen by everything that reads one."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from support.invoking import invoke
from support.timedcrawl import DAY, TimedCrawl
from support.webs import DictWeb, html, page

from crawlproject.commands.why import WhyCommand
from crawlproject.evaluation.runs import find_runs, load_run
from crawlproject.frontier.views.open import read_frontier
from crawlproject.parts.revisits.registry import POLICIES
from crawlproject.parts.revisits.report import estimate_freshness
from crawlproject.records import Reply, Topic
from crawlproject.reports.console import moment
from crawlproject.reports.evidence import numbers
from crawlproject.reports.live_summary import LiveSummary
from crawlproject.reports.map_data import read_map
from crawlproject.reports.report import write_report
from crawlproject.reports.summary import summarise
from crawlproject.reports.why.asked import options_of
from crawlproject.reports.why.lookup import url_status
from crawlproject.storage.read import first_visits, present_visits, read_info, read_visits
from crawlproject.webs.open import CrawledWeb

ROOT = "http://a.example/"
URLS = [f"{ROOT}p{n}" for n in range(6)]
TOPIC = Topic("reef", ("coral reef",), (ROOT,))


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The originals of both ``folders``, which are made once."""
    both = tmp_path_factory.mktemp("crawled")
    for name, settings in (
        ("once", {}),
        ("again", {"CRAWL_REVISIT": "uniform", "CRAWL_RATE": 2.0, "CRAWL_MAX_PAGES": 7}),
    ):
        web = DictWeb(
            dict(
                [
                    page(ROOT, *URLS, text="coral reef"),
                    *(page(url, text=f"coral reef {url[-1] * 3} x" * 3) for url in URLS),
                ]
            )
        )
        crawl = TimedCrawl(TOPIC, both / name, web, **settings).run(600.0)
        if settings:
            del web.replies[URLS[1]]
            web.replies[URLS[2]] = Reply(URLS[2], 301, {"location": ROOT})
            steam = html(text="steam engines and railways", title="Steam")
            web.replies[URLS[3]] = replace(web.replies[URLS[3]], body=steam)
            crawl.run(5 * DAY)
        crawl.close()
    visits = list(read_visits(both / "again"))
    assert {"gone", "moved", "changed", "same"} <= {visit.change for visit in visits}
    return both


@pytest.fixture
def folders(crawled: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A crawl, and the same crawl after its pages were revisited: one is gone, one moved, one is no longer about reefs."""
    shutil.copytree(crawled, tmp_path, dirs_exist_ok=True)
    return tmp_path / "once", tmp_path / "again"


def test_measures_and_counts_are_of_first_visits(folders: tuple[Path, Path]) -> None:
    once, again = folders
    runs = [load_run(run) for folder in folders for run in find_runs(folder)]
    assert runs[0].relevance.tolist() == runs[1].relevance.tolist() and runs[0].fetches == runs[1].fetches
    before, after = (summarise(read_visits(folder), read_info(folder)) for folder in folders)
    shown = [{number.name: number.value for number in numbers(summary, 0.1)} for summary in (before, after)]
    assert shown[1].pop("fetches of known pages") == after.revisits > 10
    assert shown[1].pop("fetches") == shown[0].pop("fetches") + after.revisits
    assert shown[0] == pytest.approx(shown[1], nan_ok=True)
    assert after.failures == before.failures == () and after.too_soon == 0
    assert not any(host.failures for host in after.every_host)
    live = LiveSummary(again, read_info(again), 0.1)
    assert live.advance() and (live.pages, live.redirects, sum(live.failures.values())) == (7, 0, 0)
    assert 'id="freshness"' in write_report(again).read_text()
    assert 'id="freshness"' not in write_report(once).read_text()


@pytest.mark.parametrize("policy", POLICIES)
def test_freshness_and_next_visits(folders: tuple[Path, Path], policy: str, capsys: pytest.CaptureFixture[str]) -> None:
    """For every policy, whichever the crawl used; ``scrapy why`` names the time until which the frontier holds the page."""
    folder = folders[1]
    manifest = json.loads((folder / "crawl.json").read_text())
    manifest["settings"]["crawl_revisit"] = policy
    (folder / "crawl.json").write_text(json.dumps(manifest))
    fresh = estimate_freshness(folder, options_of(read_info(folder)))
    assert fresh is not None and (fresh.policy, fresh.pages, fresh.away) == (policy, 5, 2)
    assert 0.0 < fresh.freshness <= 1.0 and 0.0 <= fresh.age < 5 * DAY
    assert fresh.visits == sum(bool(visit.change) for visit in read_visits(folder) if visit.number > 1)
    assert len(fresh.upcoming) + fresh.given_up_count == 5
    (host,) = fresh.hosts
    assert (host.host, host.pages, host.changes) == ("a.example", 5, 1) and host.rate >= 0
    assert invoke(WhyCommand(), folder, URLS[3]) == 0
    told = capsys.readouterr().out
    assert "Visited again" in told and "1 changed" in told and "That rests on: changes a day" in told
    view = read_frontier(folder / "frontier")
    assert view is not None
    (record,) = [record for record in view.waiting() if record.url == URLS[3]]
    assert "Next visit: due now" in told or f"Next visit: {moment(record.not_before)}" in told
    assert invoke(WhyCommand(), folder, URLS[1]) == 0
    told = capsys.readouterr().out
    assert "missing" in told and "gone" in told and "Next visit" not in told


def test_what_is_stored_is_the_latest(folders: tuple[Path, Path]) -> None:
    once, again = folders
    assert [visit.url for visit in first_visits(again)] == [visit.url for visit in first_visits(once)]
    assert list(present_visits(once)) == list(first_visits(once))
    shown = {visit.url: visit for visit in present_visits(again)}
    assert set(shown) == {ROOT, *URLS} - {URLS[1], URLS[2]}
    assert (shown[URLS[3]].title, shown[URLS[3]].relevance, shown[URLS[3]].parent) == ("Steam", 0.0, ROOT)
    assert {node.url for node in read_map(again).nodes} == set(shown)
    web = CrawledWeb(again)
    assert b"steam" in web.get(URLS[3]).body and web.get(URLS[0]).status == 200
    assert (web.get(URLS[1]).status, web.get(URLS[2]).headers["location"]) == (404, ROOT)


def test_why_tells_of_the_first_visit_and_of_the_others(folders: tuple[Path, Path]) -> None:
    found = url_status(folders[1], URLS[3])
    assert found.visit is not None and found.visit.number == 1 and found.visit.relevance > 0.1
    assert [step.url for step in found.path] == [ROOT, URLS[3]]
    assert [visit.number for visit in found.again] == list(range(2, 2 + len(found.again)))
    assert not url_status(folders[1], ROOT).redirects, "a page that moved led nowhere when it was found"
