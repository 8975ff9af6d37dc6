"""The live summary of a running crawl."""

import dataclasses
import json
from itertools import pairwise

import pytest

from crawlproject.errors import BadCrawlDir
from crawlproject.reports import live_summary
from crawlproject.reports.live_summary import AGENTS, LiveSummary
from crawlproject.reports.summary import summarise
from crawlproject.storage.read import CrawlInfo

INFO = CrawlInfo(settings={"POLITENESS_MIN_DELAY": 1.0, "POLITENESS_FACTOR": 1.0})


def append(folder, *visits):
    with (folder / "history.jsonl").open("a") as file:
        file.writelines(json.dumps(dataclasses.asdict(visit)) + "\n" for visit in visits)


@pytest.fixture
def summary_of(write_crawl, tmp_path):
    def make(*visits):
        return LiveSummary(write_crawl(tmp_path, visits), INFO, 0.3)

    return make


def test_it_reads_on_where_it_stopped_and_comes_to_what_the_report_counts(summary_of, page, crawl_of_pages, tmp_path):
    visits = [page("http://a.example/sitemap.xml", md5="", kind="sitemap"), *crawl_of_pages(300)]
    found = summary_of(*visits[:100])
    assert found.fetches == 0
    while not found.advance(most=7):
        pass
    assert found.fetches == 100
    append(tmp_path, *visits[100:])
    assert found.advance()
    summary = summarise(visits, INFO)
    assert (found.fetches, found.pages, found.hosts) == (summary.fetches, summary.pages, summary.hosts)
    assert (found.gaps, found.too_soon) == (summary.gaps, summary.too_soon)
    assert found.smallest_gap == pytest.approx(summary.smallest_gap)
    assert found.relevant == summary.relevant(0.3) and found.redirects == summary.redirects
    assert found.harvest == pytest.approx(summary.relevant(0.3) / summary.pages)
    assert [page.visit for page in found.best()][:25] == list(summary.best)
    assert found.busiest() == list(summary.busiest)[: live_summary.HOSTS]
    assert found.listings == summary.listings == 1
    assert sum(found.failures.values()) == sum(failure.count for failure in summary.failures)


def test_no_pause_at_all_is_the_smallest_and_a_changed_page_is_one(summary_of, page):
    found = summary_of(
        page("http://a.example/1", at=10.0, seconds=0.0),
        page("http://a.example/2", at=10.0, seconds=0.0),
        page("http://b.example/1", at=20.0, seconds=0.0),
        page("http://b.example/1", at=25.0, seconds=0.0, number=2, version=2, change="changed"),
    )
    found.advance()
    assert found.smallest_gap == 0.0
    assert [(host.host, host.pages, host.fetches) for host in found.busiest()] == [
        ("a.example", 2, 2),
        ("b.example", 1, 2),
    ]
    assert found.pages == 3


def test_a_line_that_is_being_written_waits(summary_of, page, tmp_path):
    found = summary_of(page("http://a.example/"))
    whole = json.dumps(dataclasses.asdict(page("http://a.example/2"))) + "\n"
    history = tmp_path / "history.jsonl"
    with history.open("a") as file:
        file.write(whole[:40])
    assert found.advance() and found.fetches == 1
    with history.open("a") as file:
        file.write(whole[40:])
    assert found.advance() and found.fetches == 2


def test_a_history_that_starts_anew_is_read_anew(summary_of, page, tmp_path):
    found = summary_of(page("http://a.example/"), page("http://a.example/2"))
    found.advance()
    (tmp_path / "history.jsonl").unlink()
    append(tmp_path, page("http://b.example/", title="New"))
    found.advance()
    assert (found.fetches, found.hosts) == (1, 1) and found.latest[0].visit.title == "New"


def test_a_damaged_line_is_named(summary_of, page, tmp_path):
    found = summary_of(page("http://a.example/"))
    with (tmp_path / "history.jsonl").open("a") as file:
        file.write("[1, 2]\n")
    with pytest.raises(BadCrawlDir, match="line 2"):
        found.advance()


def test_a_field_of_the_wrong_kind_is_named(summary_of, page):
    with pytest.raises(BadCrawlDir, match="line 1"):
        summary_of(page("javascript:alert(1)")).advance()


def test_the_curve_stays_small_and_ends_near_the_last_page(summary_of, page, monkeypatch):
    monkeypatch.setattr(live_summary, "_POINTS", 20)
    found = summary_of(*[page(f"http://a.example/{n}", relevance=n % 2) for n in range(500)])
    found.advance()
    pages = [point[0] for point in found.curve]
    assert len(pages) <= 20 and pages == sorted(pages) and pages[-1] > 460
    assert found.curve[-1][1] == pytest.approx(0.5, abs=0.01)
    assert len({after - before for before, after in pairwise(pages)}) == 1


def test_agents_are_distinguished(summary_of, page):
    found = summary_of(
        page("http://a.example/", relevance=0.5, signs={"agent": 0.0}),
        page("http://b.example/", relevance=0.1, signs={"agent": 1.0}),
        page("http://b.example/2", relevance=0.9, signs={"agent": 1.0}),
        page("http://c.example/", relevance=0.9),
    )
    found.advance()
    assert [(agent.number, agent.pages, agent.relevant) for agent in found.agents()] == [(0, 1, 1), (1, 2, 1)]
    best = {agent.number: [page.visit.url for page in agent.best] for agent in found.agents()}
    assert best == {0: ["http://a.example/"], 1: ["http://b.example/2", "http://b.example/"]}
    assert [best.agent for best in found.best()] == [1, None, 0, 1]


def test_only_the_agents_that_fetched_last_are_listed(summary_of, page):
    pages = [page(f"http://a.example/{n}", relevance=0.5, signs={"agent": float(n)}) for n in range(AGENTS + 5)]
    found = summary_of(*pages, page("http://b.example/", relevance=0.9, signs={"agent": 1.0}))
    found.advance()
    listed = [agent.number for agent in found.agents()]
    assert listed == [1, *range(6, AGENTS + 5)]


def test_of_duplicates_only_the_first_is_among_the_best(summary_of, page):
    first = "http://a.example/"
    found = summary_of(page(first, relevance=0.5), page("http://b.example/", relevance=0.5, duplicate_of=first))
    found.advance()
    assert [best.visit.url for best in found.best()] == [first] and found.duplicates == 1
