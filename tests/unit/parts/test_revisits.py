"""A crawl with revisits: every change of a small web is detected, recorded once, and visible to readers of the folder."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from hashlib import md5
from pathlib import Path
from typing import Any

import pytest
from support.parts import revisits_of
from support.timedcrawl import DAY, START, TimedCrawl
from support.webs import DictWeb, page

from crawlproject.core.replay import read_events
from crawlproject.errors import BadInput
from crawlproject.parts.revisits.collection import Collection
from crawlproject.parts.revisits.steps import RevisitSteps
from crawlproject.records import REVISIT, CrawlUrl, Page, Reply, Topic, Visit
from crawlproject.storage.history import History
from crawlproject.storage.logs import read_changes
from crawlproject.storage.read import read_visits
from crawlproject.urls.hosts import page_path

ROOT = "http://a.example/"
TOPIC = Topic("reef", ("coral reef",), (ROOT,))
DAILY = {"CRAWL_REVISIT": "uniform", "CRAWL_RATE": 1.0, "CRAWL_REVISIT_MIN": 60.0}


class TaggedWeb(DictWeb):
    """A web whose servers send entity tags."""

    def get(self, url: str) -> Reply:
        reply = super().get(url)
        return replace(reply, headers={**reply.headers, "etag": f'"{md5(reply.body).hexdigest()}"'})


def site(pages: int = 5) -> TaggedWeb:
    urls = [f"{ROOT}p{n}" for n in range(pages)]
    texts = {url: f"coral reef number {chr(97 + n)} with its own words {'tide ' * n}" for n, url in enumerate(urls)}
    return TaggedWeb(
        dict([page(ROOT, *urls, text="coral reef"), *(page(url, text=text) for url, text in texts.items())])
    )


def started(folder: Path, web: Any, **settings: object) -> TimedCrawl:
    return TimedCrawl(TOPIC, folder, web, **{**DAILY, **settings})


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]


def items(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]


def test_unchanged_pages_are_asked_for_with_their_validators_and_cost_a_line_each(tmp_path: Path) -> None:
    crawl = started(tmp_path, site()).run(DAY)
    crawl.close()
    again = [visit for visit in read_visits(tmp_path) if visit.number > 1]
    assert len(again) >= 12, "one fetch an hour, and six pages"
    assert {(visit.status, visit.change, visit.md5) for visit in again} == {(304, "same", "")}
    assert all("If-None-Match" in headers for _, _, headers, status in crawl.asked if status == 304)
    assert len(items(tmp_path)) == 6 and not list(read_changes(tmp_path))


def test_the_rate_limits_all_fetches_after_the_first_harvest(tmp_path: Path) -> None:
    crawl = started(tmp_path, site(), CRAWL_MAX_PAGES=6, CRAWL_RATE=6.0).run(DAY)
    late = [at for at, _, _, status in crawl.asked if status == 304]
    assert 120 <= len(late) <= 6 * 24 + 10
    assert [status for *_, status in crawl.asked[:6]] == [200] * 6, "the harvest itself is not slowed down"
    assert crawl.asked[5][0] - START < 60.0


@pytest.mark.parametrize("policy", ["uniform", "age", "freshness"])
def test_nobody_starves_on_a_host_that_cannot_give_what_the_plan_asks(tmp_path: Path, policy: str) -> None:
    """Ten pages of one host, one of them worth less, visited once a minute; the budget would be six times that."""
    web = site(9)
    web.replies |= dict([page(f"{ROOT}p3", text="coral, and something else altogether, of which there is more")])
    first = started(tmp_path, web, CRAWL_REVISIT=policy).run(DAY)
    first.close()
    busy = {"CRAWL_REVISIT": policy, "CRAWL_RATE": 360.0, "POLITENESS_MIN_DELAY": 60.0}
    crawl = started(tmp_path, web, now=first.now, **busy).run(DAY)
    known = Counter(visit.url for visit in read_visits(tmp_path))
    crawl.run(3 * 3600.0).close()
    visits = Counter(visit.url for visit in read_visits(tmp_path)) - known
    assert len(visits) == 10 and sum(visits.values()) > 150
    assert max(visits.values()) - min(visits.values()) <= 2, visits


def test_a_new_url_is_seen_while_revisits_are_under_way(tmp_path: Path) -> None:
    """Before, leased URLs did not count as waiting, and revisits that were always due left nothing for new pages."""
    crawl = started(tmp_path, site(), CRAWL_REVISIT_MIN=1.0).run(DAY).crawl
    revisits, later = revisits_of(crawl), START + 30 * DAY
    assert not revisits.has_new()
    leased = crawl.take(later)
    assert leased is not None and leased.kind == REVISIT and not revisits.has_new()
    crawl.frontier.put(CrawlUrl("http://b.example/new", 0.5, 1, ROOT))
    assert revisits.has_new()
    crawl.close("stopped", later)


def run_until_killed(crawl: TimedCrawl, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run until a patched function raises ``KeyboardInterrupt``, after which nothing is written."""
    with pytest.raises(KeyboardInterrupt):
        crawl.run(2 * DAY)
    monkeypatch.undo()
    crawl.crawl.leave("killed", crawl.now)


def test_a_change_brings_a_version_a_difference_and_the_new_links(tmp_path: Path) -> None:
    web = site()
    crawl = started(tmp_path, web, PAGE_VERSIONS=2).run(3600.0)
    before = web.replies[f"{ROOT}p1"].body
    new = f"{ROOT}new"
    web.replies |= dict(
        [page(f"{ROOT}p1", new, text="coral reef restored by divers"), page(new, text="coral reef nursery")]
    )
    crawl.run(2 * DAY).close()
    (change,) = [change for change in read_changes(tmp_path) if change.url == f"{ROOT}p1"]
    assert (change.change, change.version, change.number > 1) == ("changed", 2, True)
    assert any("divers" in passage for passage in change.added) and any("number b" in it for it in change.removed)
    assert 0.5 < change.novelty <= 1.0
    assert [item["version"] for item in items(tmp_path) if item["url"] == f"{ROOT}p1"] == [1, 2]
    assert new in {visit.url for visit in read_visits(tmp_path) if visit.md5}, "the new page was found"
    stored = crawl.crawl.folder.pages
    assert stored.load(f"{ROOT}p1") == web.replies[f"{ROOT}p1"].body
    assert stored.versions(f"{ROOT}p1")[1].read_bytes() == before


def test_a_change_is_told_though_a_kill_came_behind_the_page_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, the file was new but the history was not: later visits compared the page with itself."""
    web, url = site(), f"{ROOT}p1"
    first = started(tmp_path, web).run(3600.0)
    web.replies |= dict([page(url, text="coral reef restored by divers")])

    def killed(steps: RevisitSteps, page: Page, visit: Visit) -> None:
        if visit.url == url and visit.change == "changed":
            raise KeyboardInterrupt
        keep(steps, page, visit)

    keep = RevisitSteps.keep
    monkeypatch.setattr(RevisitSteps, "keep", killed)
    run_until_killed(first, monkeypatch)
    again = started(tmp_path, web, now=first.now).run(2 * DAY)
    again.close()
    (change,) = [change for change in read_changes(tmp_path) if change.url == url]
    assert (change.change, change.version) == ("changed", 2) and any("divers" in passage for passage in change.added)
    assert [item["version"] for item in items(tmp_path) if item["url"] == url] == [1, 2]
    assert not again.crawl.folder.pages.versions(url)


def test_links_of_a_visit_without_a_line_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, a kill between them left links that all replays assumed each later page to lack."""
    web, url, new = site(), f"{ROOT}p1", f"{ROOT}new"
    first = started(tmp_path, web).run(3600.0)
    web.replies |= dict(
        [page(url, new, text="coral reef restored by divers"), page(new, f"{new}er", text="nursery"), page(f"{new}er")]
    )

    def killed(history: History, visit: Visit) -> None:
        if visit.url == url and visit.number > 1 and visit.md5:
            raise KeyboardInterrupt
        append(history, visit)

    append = History.append
    monkeypatch.setattr(History, "append", killed)
    run_until_killed(first, monkeypatch)
    assert url in (tmp_path / "links.jsonl").read_text().splitlines()[-1]
    del web.replies[url]
    web.replies |= dict([page(f"{ROOT}p0", new, text="coral reef of another kind altogether")])
    again = started(tmp_path, web, now=first.now).run(5 * DAY)
    events = list(read_events(again.crawl.services, {}, again.now))
    again.close()
    assert [event.visit.url for event in events if event.links] == [ROOT, f"{ROOT}p0", new]
    assert [(e.visit.url, len(e.links), e.visit.links) for e in events if len(e.links) != e.visit.links] == []


def test_nothing_is_missed_or_told_of_a_crawl_that_retires_pages(tmp_path: Path) -> None:
    """Each retired page has an additional line in items.jsonl."""
    web = site(8)
    started(tmp_path, web, CRAWL_KEEP_PAGES=3).run(60.0).close()
    assert sum(item["state"] == "retired" for item in items(tmp_path)) == 6
    for _ in range(2):
        again = started(tmp_path, web, CRAWL_KEEP_PAGES=3)
        assert not again.crawl.folder.warnings
        again.close()
    kept = [line for line in (tmp_path / "items.jsonl").read_bytes().splitlines(keepends=True) if b"retired" in line]
    (tmp_path / "items.jsonl").write_bytes(b"".join(kept))
    again = started(tmp_path, web, CRAWL_KEEP_PAGES=3)
    again.close()
    assert "the items of 9 pages were rebuilt" in again.crawl.folder.warnings[0]
    assert len(items(tmp_path)) == 15


def test_another_date_is_no_change(tmp_path: Path) -> None:
    web = site()
    web.replies |= dict([page(f"{ROOT}p1", text="coral reef, as of Monday, 2 March 2026, seen 17 times")])
    crawl = started(tmp_path, web).run(3600.0)
    web.replies |= dict([page(f"{ROOT}p1", text="coral reef, as of Friday, 13 November 2026, seen 244 times")])
    crawl.run(2 * DAY).close()
    assert not list(read_changes(tmp_path))
    again = [visit for visit in read_visits(tmp_path) if visit.number > 1 and visit.url == f"{ROOT}p1"]
    assert {visit.change for visit in again} == {"same"} and 304 in {visit.status for visit in again}


def test_a_page_is_gone_when_a_second_look_confirms_it(tmp_path: Path) -> None:
    web = site()
    crawl = started(tmp_path, web).run(3600.0)
    gone, passing = f"{ROOT}p1", f"{ROOT}p2"
    kept = web.replies[passing]
    del web.replies[gone], web.replies[passing]
    while not {gone, passing} <= {change.url for change in read_changes(tmp_path)}:
        crawl.run(600.0)
    web.replies[passing] = kept
    crawl.run(5 * DAY).close()
    found = {url: [change.change for change in read_changes(tmp_path) if change.url == url] for url in (gone, passing)}
    assert found == {gone: ["missing", "gone"], passing: ["missing", "back"]}
    times = [visit.at for visit in read_visits(tmp_path) if visit.url == gone]
    assert times[-1] - times[-2] >= DAY and len(lines(tmp_path)) > 20
    assert [(item["state"], item["version"]) for item in items(tmp_path) if item["url"] == gone] == [
        ("", 1),
        ("gone", 1),
    ]
    assert crawl.crawl.folder.pages.load(gone), "the archive keeps it"


def test_a_page_that_moved_for_good_is_replaced_by_the_one_at_its_new_place(tmp_path: Path) -> None:
    web = site()
    crawl = started(tmp_path, web).run(3600.0)
    old, new, other = f"{ROOT}p1", f"{ROOT}moved", f"{ROOT}p2"
    web.replies |= {old: Reply(old, 301, {"location": new}), other: Reply(other, 302, {"location": f"{ROOT}p3"})}
    web.replies |= dict([page(new, text="coral reef at its new place")])
    crawl.run(3 * DAY).close()
    assert [(c.url, c.change, c.target) for c in read_changes(tmp_path)] == [(old, "moved", new)]
    assert new in {visit.url for visit in read_visits(tmp_path) if visit.md5}
    assert sum(visit.url == other for visit in read_visits(tmp_path)) > 2, "a redirect for now says nothing"


def test_of_a_retired_page_all_is_kept_and_it_is_not_asked_for_again(tmp_path: Path) -> None:
    web = site(8)
    crawl = started(tmp_path, web, CRAWL_KEEP_PAGES=4).run(DAY)
    gone = {change.url: change.at for change in read_changes(tmp_path) if change.change == "retired"}
    assert len(gone) == 5
    web.replies |= dict(
        [page(ROOT, *(f"{ROOT}p{n}" for n in range(8)), text="coral reef, and links to all pages anew")]
    )
    crawl.run(3 * DAY).close()
    assert [url for at, url, _, _ in crawl.asked if url in gone and at > gone[url]] == []
    known = {visit.url: visit for visit in read_visits(tmp_path)}
    links = {line["source"] for line in map(json.loads, (tmp_path / "links.jsonl").read_text().splitlines())}
    assert all(known[url].relevance > 0 and (tmp_path / "pages" / page_path(known[url].md5)).exists() for url in gone)
    assert ROOT in links


def test_a_collection_keeps_the_most_relevant_pages(tmp_path: Path) -> None:
    crawl = started(tmp_path, site(8), CRAWL_KEEP_PAGES=4).run(DAY)
    asked = len(crawl.asked)
    crawl.run(2 * DAY).close()
    retired = [change.url for change in read_changes(tmp_path) if change.change == "retired"]
    assert len(retired) == 5 == len(set(retired))
    collection = Collection(tmp_path)
    assert collection.present == 4
    assert min(p.weight for p in collection.pages() if not p.is_away) >= max(
        collection.find(url).weight for url in retired
    )
    assert not {url for _, url, _, _ in crawl.asked[asked:]} & set(retired), "and none of them is fetched again"


@pytest.mark.parametrize("frontier", ["memory", "disk"])
def test_a_resumed_crawl_goes_on_where_it_was(tmp_path: Path, frontier: str) -> None:
    web = site()
    first = started(tmp_path, web, FRONTIER=frontier).run(DAY)
    first.close()
    second = TimedCrawl(TOPIC, tmp_path, web, first.now, **{**DAILY, "FRONTIER": frontier}).run(DAY)
    second.close()
    assert [url for _, url, _, status in second.asked if status == 200] == []
    numbers = [visit.number for visit in read_visits(tmp_path) if visit.url == ROOT]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) > 6


def test_a_collection_that_was_crawled_without_revisits_is_visited_again(tmp_path: Path) -> None:
    web = site()
    first = TimedCrawl(TOPIC, tmp_path, web).run(DAY)
    first.close()
    assert not (tmp_path / "collection.sqlite").exists()
    second = TimedCrawl(TOPIC, tmp_path, web, first.now + 30 * DAY, **DAILY).run(DAY)
    second.close()
    assert {url for _, url, _, status in second.asked if status == 304} == set(web.replies)


def test_the_collection_is_made_again_from_the_history(tmp_path: Path) -> None:
    web = site(8)
    crawl = started(tmp_path, web, CRAWL_KEEP_PAGES=6).run(3600.0)
    del web.replies[f"{ROOT}p7"]
    web.replies |= dict([page(f"{ROOT}p6", text="coral reef of another kind")])
    crawl.run(4 * DAY).close()
    before = list(Collection(tmp_path).pages())
    (tmp_path / "collection.sqlite").unlink()
    assert list(Collection(tmp_path).pages()) == before


def test_a_round_visits_so_many_pages_and_ends(tmp_path: Path) -> None:
    web = site(20)
    first = TimedCrawl(TOPIC, tmp_path, web).run(DAY)
    first.close()
    later = first.now + 10 * DAY
    crawl = TimedCrawl(TOPIC, tmp_path, web, later, CRAWL_REVISIT="uniform", CRAWL_REVISIT_ROUND=7).run(DAY)
    assert len(crawl.asked) == 7 and crawl.now - later < 60.0
    assert crawl.crawl.end_reason(crawl.now) == "round over"


@pytest.mark.parametrize("frontier", ["memory", "disk"])
def test_rounds_one_after_the_other_have_their_fetches(tmp_path: Path, frontier: str) -> None:
    """Whatever waits in the frontier from the previous round, and however soon the next round starts."""
    web = site(20)
    first = TimedCrawl(TOPIC, tmp_path, web, FRONTIER=frontier).run(DAY)
    first.close()
    now = first.now
    settings = {"CRAWL_REVISIT": "adaptive", "CRAWL_REVISIT_ROUND": 21, "FRONTIER": frontier}
    for _ in range(3):
        crawl = TimedCrawl(TOPIC, tmp_path, web, now + 60.0, **settings).run(DAY)
        crawl.close()
        assert {url for _, url, _, _ in crawl.asked} == set(web.replies) and len(crawl.asked) == 21
        assert revisits_of(crawl.crawl) is not None and revisits_of(crawl.crawl).tally["same"] == 21
        now = crawl.now


def test_pages_that_readers_click_are_visited_more_often(tmp_path: Path) -> None:
    (tmp_path / "clicks.tsv").write_text(f"reef\t{ROOT}p3\t90\nreef\t{ROOT}p1\t1\n")
    folder, clicks = tmp_path / "crawl", str(tmp_path / "clicks.tsv")
    started(folder, site(), CRAWL_REVISIT="embarrassment", CRAWL_CLICKS=clicks).run(6 * DAY).close()
    visits = Counter(visit.url for visit in read_visits(folder))
    assert visits[f"{ROOT}p3"] > 3 * max(count for url, count in visits.items() if url != f"{ROOT}p3")


def test_a_file_of_clicks_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "clicks.tsv").write_text("reef\n")
    with pytest.raises(BadInput, match=r"clicks.tsv, line 1: expected a query"):
        started(tmp_path / "crawl", site(), CRAWL_CLICKS=str(tmp_path / "clicks.tsv"))


def test_what_a_change_does_to_the_results_of_queries_is_noted_and_outlives_a_resume(tmp_path: Path) -> None:
    """ "tide" finds p4, p3, p2, p1 in this order. After a day p0 is about nothing else: it is first, with 1 against 0.8."""
    (tmp_path / "queries.txt").write_text("tide\n")
    folder, web = tmp_path / "crawl", site()
    settings = {"CRAWL_REVISIT": "impact", "TOPIC_QUERIES": str(tmp_path / "queries.txt")}
    first = started(folder, web, **settings).run(DAY)
    web.replies |= dict([page(f"{ROOT}p0", text="tide tide tide")])
    first.run(2 * DAY).close()
    [moved] = [visit for visit in read_visits(folder) if visit.change == "changed"]
    assert moved.signs["impact"] > 0.1
    web.replies |= dict([page(f"{ROOT}p0", text="tide tide tide tide"), page(f"{ROOT}p4", text="no such thing")])
    again = TimedCrawl(TOPIC, folder, web, first.now, **{**DAILY, **settings}).run(3 * DAY)
    again.close()
    later = {
        visit.url: visit.signs["impact"]
        for visit in read_visits(folder)
        if visit.change == "changed" and visit.at > first.now
    }
    assert later[f"{ROOT}p0"] == 0.0, "it was first before"
    assert 0.0 < later[f"{ROOT}p4"] < 0.5, "it was second"
