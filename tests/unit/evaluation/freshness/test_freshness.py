"""Policies on recorded changes: histories, simulation, measures and oracle, on sites small enough to count by hand."""

from __future__ import annotations

import base64
import gzip
import math
from functools import reduce
from pathlib import Path

import numpy as np
import orjson
import pytest
from support.archives import shared_data

from benchmarks.discoverability import greedy_cover, spawned_links
from crawlproject.errors import BadInput
from crawlproject.evaluation.freshness.comparison import freshness_bound, run_policy
from crawlproject.evaluation.freshness.histories import (
    PageHistory,
    SiteHistory,
    find_histories,
    jaccard_distance,
    read_site,
    section_of,
)
from crawlproject.evaluation.freshness.measures import Totals, measure
from crawlproject.evaluation.freshness.simulation import Simulation, SiteCollection, VisitLog
from crawlproject.parts.revisits.registry import POLICIES, make_policy

DAY = 86_400.0


def a_page(
    *changes: float, links: dict[int, set[int]] | None = None, gone: list[tuple[float, float]] | None = None
) -> PageHistory:
    """A page published on the first of these days, whose text is wholly new on each of the other days.

    ``links``: link targets by the version in which they appear.
    """
    times = np.array(changes) * DAY
    targets: list[frozenset[int]] = []
    for version in range(len(changes)):
        targets.append(frozenset((links or {}).get(version, targets[-1] if targets else ())))
    sketches = [np.array([version], dtype=np.uint64) for version in range(len(changes))]
    periods = [(start * DAY, end * DAY) for start, end in gone or []]
    return PageHistory("http://a.example/x", times, np.arange(len(changes)), sketches, targets, periods)


def a_site(*pages: PageHistory, days: float = 100) -> SiteHistory:
    return SiteHistory("a.example", 0.0, days * DAY, list(pages))


def a_log(*visits: tuple[float, int, int]) -> VisitLog:
    """Visits as (day, page, version)."""
    log = VisitLog()
    for day, page, version in visits:
        log.times.append(day * DAY)
        log.pages.append(page)
        log.versions.append(version)
    return log


class TestHistories:
    def line(self, hashes: list[int]) -> str:
        return base64.b64encode(np.array(hashes, dtype=">u8").tobytes()).decode().rstrip("=")

    def write(self, path: Path, *rows: dict) -> Path:
        with gzip.open(path, "wb") as file:
            for row in rows:
                file.write(orjson.dumps(row) + b"\n")
        return path

    def test_reads_texts_sketches_links_and_absence(self, tmp_path: Path) -> None:
        path = self.write(
            tmp_path / "a.jsonl.gz",
            {"site": "a.example", "from": 0, "to": 100},
            {
                "id": 0,
                "url": "http://a.example/",
                "versions": [
                    [0, "A", "b", 9, [self.line([1, 5]), []], [0], []],
                    [10, "", "c", 9, None, [], []],
                    [20, "B", "d", 9, [self.line([3]), [0]], [], [0]],
                    [30, "A", "e", 9, [self.line([1]), [0]], [], []],
                ],
                "gone": [[40, 50], [90, None]],
            },
        )
        page = read_site(path).pages[0]
        assert page.texts.tolist() == [0, 0, 1, 0]
        assert [sketch.tolist() for sketch in page.sketches] == [[1, 5], [1, 5], [3, 5], [1, 5]]
        assert page.links == [{0}, {0}, set(), set()]
        assert [page.exists(t) for t in (-1, 0, 40, 49, 50, 90, 1e9)] == [False, True, False, False, True, False, False]
        assert [page.version_at(t) for t in (-1, 0, 19, 20, 99)] == [-1, 0, 1, 2, 3]
        assert page.distance(0, 3) == 0
        assert page.distance(0, 2) == page.distance(2, 3) > 0

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"{",
            b'{"site": "a"}\n',
            b'{"site": "a", "from": 0, "to": 1}\n{"id": 0}\n',
            b'{"site":"a","from":0,"to":1}\n7\n',
        ],
    )
    def test_a_file_that_is_no_history(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "a.jsonl.gz"
        path.write_bytes(gzip.compress(content))
        with pytest.raises(BadInput, match=r"a\.jsonl\.gz"):
            read_site(path)

    def test_a_file_that_is_cut_or_not_packed(self, tmp_path: Path) -> None:
        path = self.write(tmp_path / "a.jsonl.gz", {"site": "a", "from": 0, "to": 1, "x": "y" * 500})
        path.write_bytes(path.read_bytes()[:-12])
        with pytest.raises(BadInput, match="gzip"):
            read_site(path)
        path.write_bytes(b"plain")
        with pytest.raises(BadInput, match="gzip"):
            read_site(path)

    def test_ids_with_a_gap(self, tmp_path: Path) -> None:
        page = {"id": 1, "url": "u", "versions": [[0, "A", "b", 9, None, [], []]], "gone": []}
        path = self.write(tmp_path / "a.jsonl.gz", {"site": "a", "from": 0, "to": 1}, page)
        with pytest.raises(BadInput, match="without gaps"):
            read_site(path)

    def test_a_folder_without_histories(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="change histories"):
            find_histories(tmp_path)

    def test_sketches_tell_the_distance_of_sets(self) -> None:
        found = []
        for seed in range(40):
            generator = np.random.default_rng(seed)
            other = np.sort(generator.integers(0, 2**63, 1500, dtype=np.uint64))
            one = np.sort(other[generator.permutation(1500)[:1000]])
            found.append(jaccard_distance(one[:64], other[:64]))
        assert np.mean(found) == pytest.approx(1 / 3, abs=0.04)
        assert jaccard_distance(one[:0], one[:0]) == 0
        assert jaccard_distance(one[:0], one[:9]) == 1

    def test_sections(self) -> None:
        assert [section_of(f"http://a.example{path}") for path in ("/", "/x.html", "/docs/x/y")] == ["", "", "docs"]


class TestMeasures:
    def totals(self, site: SiteHistory, log: VisitLog) -> Totals:
        return reduce(Totals.__add__, measure(SiteCollection([site]), log))

    def test_a_change_is_missed_until_the_next_visit(self) -> None:
        found = self.totals(a_site(a_page(0, 40)), a_log((0, 0, 0), (60, 0, 1)))
        assert found.time == 100 * DAY
        assert found.freshness == pytest.approx(0.8)
        assert found.content_freshness == pytest.approx(0.8)
        assert found.age_days == pytest.approx(20 * 20 / 2 / 100)
        assert (found.changes, found.captured, found.useful) == (1, 1, 1)
        assert found.delay_days == 20

    def test_of_two_changes_between_visits_one_is_captured(self) -> None:
        found = self.totals(a_site(a_page(0, 40, 50)), a_log((0, 0, 0), (60, 0, 2)))
        assert (found.changes, found.captured) == (2, 1)
        assert found.age_days == pytest.approx(20 * 20 / 2 / 100)
        assert found.delay_days == 15

    def test_a_text_that_came_back_is_fresh_again(self) -> None:
        page = a_page(0, 40, 50)
        page.texts[2] = page.texts[0]
        assert self.totals(a_site(page), a_log((0, 0, 0))).freshness == pytest.approx(0.9)

    def test_a_page_that_is_gone_is_stale_until_that_was_seen(self) -> None:
        found = self.totals(a_site(a_page(0, gone=[(50, math.inf)])), a_log((0, 0, 0), (60, 0, -1)))
        assert found.time == 60 * DAY
        assert found.fresh == 50 * DAY

    def test_a_new_page_counts_once_it_was_found(self) -> None:
        site = a_site(a_page(0), a_page(20), a_page(30))
        found = self.totals(site, a_log((0, 0, 0), (60, 1, 0)))
        assert (found.born, found.found) == (2, 1)
        assert found.time == 140 * DAY

    def test_part_of_the_text(self) -> None:
        page = a_page(0, 50)
        page.sketches[:] = [np.arange(4, dtype=np.uint64), np.arange(2, 6, dtype=np.uint64)]
        found = self.totals(a_site(page), a_log((0, 0, 0)))
        assert found.freshness == 0.5
        assert found.content_freshness == pytest.approx(0.5 + 0.5 * 0.5)


class TestSimulation:
    def test_spends_the_budget_and_no_more(self) -> None:
        site = a_site(*(a_page(0, 10 + row, 50 + row) for row in range(20)))
        for name in POLICIES:
            log = Simulation(SiteCollection([site], days=100), make_policy(name), days=10).run()
            assert log.budget == pytest.approx(200, abs=2)
            assert log.fetches <= log.budget
            assert name in ("freshness", "capture", "content", "impact") or log.fetches >= 0.9 * log.budget
            assert len(log.times) == 20 + log.fetches
            assert log.times == sorted(log.times)

    def test_uniform_visits_every_page_as_often(self) -> None:
        site = a_site(*(a_page(0) for _ in range(10)))
        log = Simulation(SiteCollection([site], days=100), make_policy("uniform"), days=10).run()
        counts = np.bincount(log.pages)
        assert counts.max() - counts.min() <= 2

    def test_new_pages_are_found_through_links_of_visited_ones(self) -> None:
        site = a_site(a_page(0, 30, links={1: {1}}), a_page(30, links={0: {2}}), a_page(30), a_page(30))
        log = Simulation(SiteCollection([site], days=100), make_policy("uniform"), days=5).run()
        assert set(log.pages) == {0, 1, 2}
        first = {page: log.times[log.pages.index(page)] / DAY for page in (1, 2)}
        assert 30 <= first[1] <= first[2] <= 40

    def test_a_page_that_is_gone_is_visited_twice(self) -> None:
        site = a_site(a_page(0, gone=[(50, math.inf)]), a_page(0))
        log = Simulation(SiteCollection([site], days=100), make_policy("uniform"), days=5).run()
        assert [version for page, version in zip(log.pages, log.versions, strict=True) if page == 0][-2:] == [-1, -1]

    def test_sites_with_shorter_records_enter_later(self) -> None:
        collection = SiteCollection([a_site(a_page(0), days=100), a_site(a_page(0), days=37)], days=100)
        log = Simulation(collection, make_policy("uniform"), days=10).run()
        first = log.times[log.pages.index(1)] / DAY
        assert first == pytest.approx(63)
        assert collection.live_pages(np.array([10.0, 80.0]) * DAY).tolist() == [1, 2]

    def test_no_page_of_a_site_is_visited_while_it_rests_new_or_known(self) -> None:
        """A hub finds nine pages at once; another site has a page to visit meanwhile."""
        hub = a_site(a_page(0, 30, links={1: set(range(1, 10))}), *(a_page(30) for _ in range(9)))
        collection = SiteCollection([hub, a_site(a_page(0))], days=100)
        log = Simulation(collection, make_policy("uniform"), days=1, pause=2 * DAY).run()
        for site in (0, 1):
            visits = zip(log.times, log.pages, strict=True)
            times = [time / DAY for time, page in visits if collection.members[page].site == site]
            assert min(np.diff(times)) >= 2
        assert set(log.pages) == set(range(11)), "each new page has its turn"

    @pytest.mark.parametrize(("days", "visits"), [(1, 300), (2, 150), (30, 10), (60, 5)])
    def test_the_budget_is_a_visit_per_page_in_so_many_days(self, days: float, visits: int) -> None:
        """Three pages over a hundred days: also where that is less than a visit a day, or not a whole number."""
        collection = SiteCollection([a_site(a_page(0), a_page(0), a_page(0))], days=100)
        log = Simulation(collection, make_policy("uniform"), days=days).run()
        assert log.budget == visits
        assert log.fetches <= visits

    def test_the_oracle_is_above_everybody(self) -> None:
        generator = np.random.default_rng(3)
        pages = [a_page(0, *np.sort(generator.uniform(0, 100, 1 + row % 7)).tolist()) for row in range(12)]
        collection = SiteCollection([a_site(*pages)], days=100)
        for name in POLICIES:
            log = Simulation(collection, make_policy(name), days=25).run()
            found = reduce(Totals.__add__, measure(collection, log))
            assert found.freshness <= freshness_bound(collection, log.fetches) + 1e-9

    def test_the_oracle_buys_the_longest_periods(self) -> None:
        collection = SiteCollection([a_site(a_page(0, 10, 60, 80))], days=100)
        assert [freshness_bound(collection, n) for n in range(4)] == pytest.approx([0.1, 0.6, 0.8, 1.0])

    @pytest.mark.parametrize("days", [25, 1000])
    def test_the_oracle_is_above_who_never_visits_a_page_that_appears(self, days: float) -> None:
        """Such a page counts neither as fresh nor as stale."""
        new = [a_page(10 * row, 10 * row + 5) for row in range(1, 8)]
        collection = SiteCollection([a_site(a_page(0, links={0: set(range(1, 8))}), *new)], days=100)
        found = run_policy(collection, "uniform", days)
        assert found.total.freshness <= found.oracle + 1e-9

    def test_the_oracle_counts_a_page_that_appears_where_it_buys_it(self) -> None:
        """Known: fresh for 60 days, stale for 40 without a visit. New: 50 days with a text of its own."""
        collection = SiteCollection([a_site(a_page(0, 60), a_page(50))], days=100)
        assert [freshness_bound(collection, n) for n in range(3)] == pytest.approx([0.6, 1.0, 1.0])
        collection = SiteCollection([a_site(a_page(0, 90), a_page(0, 80), a_page(50))], days=100)
        assert [freshness_bound(collection, n) for n in range(3)] == pytest.approx([0.85, 0.95, 1.0])

    def test_adaptive_follows_the_rebuilds_of_sites(self) -> None:
        """Three sites of forty pages, each rebuilt every 30 days: one visit reveals forty changes."""
        pages = lambda at: [a_page(0, *range(at, 365, 30)) for _ in range(40)]  # noqa: E731
        collection = SiteCollection([a_site(*pages(at), days=365) for at in (10, 20, 30)], days=365)
        fresh = {}
        for name in ("uniform", "freshness", "adaptive"):
            log = Simulation(collection, make_policy(name), days=15).run()
            fresh[name] = reduce(Totals.__add__, measure(collection, log)).freshness
        assert fresh["adaptive"] - fresh["uniform"] > 1.15 * (fresh["freshness"] - fresh["uniform"])
        assert fresh["adaptive"] > fresh["uniform"] + 0.02


class TestSpawning:
    def test_takes_the_pages_that_find_most(self) -> None:
        links = {0: {1, 2, 3, 4}, 1: {1, 2}, 2: {5, 6}, 3: {4, 5}, 4: {7}}
        assert greedy_cover(links, 0.5) == [0]
        assert greedy_cover(links, 6 / 7) == [0, 2]
        assert greedy_cover(links, 1.0) == [0, 2, 4]
        assert greedy_cover({}, 0.9) == []

    def test_counts_links_of_old_pages_to_young_ones(self) -> None:
        site = a_site(a_page(0, 20, links={0: {1}, 1: {1, 2}}), a_page(0), a_page(15, links={0: {3}}), a_page(16))
        assert spawned_links(site, 10 * DAY) == {0: {2}}


@pytest.mark.realweb
def test_on_a_real_site_adaptive_is_fresher_than_uniform() -> None:
    path = shared_data("changes/apache+incubator_content.jsonl.gz")
    collection = SiteCollection([read_site(path)])
    fresh = {}
    for name in ("uniform", "adaptive"):
        log = Simulation(collection, make_policy(name), days=30).run()
        fresh[name] = reduce(Totals.__add__, measure(collection, log)).freshness
    assert fresh["adaptive"] > fresh["uniform"]
