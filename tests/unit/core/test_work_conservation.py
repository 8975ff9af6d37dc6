"""No slot stays idle while a permitted host is due: whole crawls on a virtual clock, with several fetches at a time."""

from __future__ import annotations

import heapq
import math
import tempfile
from collections import defaultdict
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.parts import sites_of
from support.randomweb import RandomWeb, receive

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.frontier.factory import MARGIN
from crawlproject.orderings.registry import ORDERINGS
from crawlproject.records import SPARE, CrawlUrl, Topic
from crawlproject.urls.hosts import host_of

DELAY = 1.0
REST = DELAY + MARGIN
LONGEST = 120  # fetches


class Clock:
    """The times at which hosts may be visited again: the test's own model of politeness, independent of the frontier."""

    def __init__(self) -> None:
        self.due: dict[str, float] = defaultdict(float)
        self.in_flight: set[str] = set()

    def idle_hosts(self, crawl: Crawl, now: float, *, saves_pages: bool) -> dict[str, float]:
        """The hosts with waiting URLs that may be fetched now, each with the best score of these URLs.

        A crawl that saves pages does not touch later classes as long as others wait.
        """
        best: dict[str, float] = {}
        is_later = sites_of(crawl).turns.is_postponed
        blocked = {found.host for found in crawl.frontier.blocked() if found.until > now}
        for url in crawl.frontier.waiting():
            host = host_of(url.url)
            if saves_pages and (url.precedence > SPARE or (url.depth and is_later(url.url))):
                continue
            if url.not_before <= now and host not in blocked | self.in_flight and self.due[host] <= now - 1e-6:
                best[host] = max(best.get(host, -math.inf), url.score)
        return best


def crawl_without_idle_slots(crawl: Crawl, web: RandomWeb, slots: int, random: Random, spare: float) -> int:
    """Crawl to the end; return the number of leases.

    Fails if a slot was idle while a due host had a URL that scores ``spare`` times the floor or more.
    """
    clock, now, leases, fetches = Clock(), 1000.0, list[tuple[float, int, CrawlUrl]](), 0
    while fetches < LONGEST and not crawl.end_reason(now):
        url = crawl.take(now) if len(leases) < slots else None
        if url is not None:
            fetches += 1
            host = host_of(url.url)
            assert host not in clock.in_flight and clock.due[host] <= now + 1e-6, "politeness comes first"
            clock.in_flight.add(host)
            heapq.heappush(leases, (now + random.choice([0.1, 0.3, 2.0]), fetches, url))
            continue
        if len(leases) < slots and not crawl.budget_in_flight():
            least = crawl.ordering.floor * spare if spare and crawl.ordering.floor > 0 else -math.inf
            idle = clock.idle_hosts(crawl, now, saves_pages=bool(spare))
            forgotten = {host: best for host, best in idle.items() if best >= least}
            assert not forgotten, f"idle at {now}, floor {crawl.ordering.floor}: {forgotten}"
        if leases:
            now, _, url = heapq.heappop(leases)
            clock.in_flight.discard(host_of(url.url))
            clock.due[host_of(url.url)] = now + REST
            receive(crawl, web, url, now)
            continue
        due = crawl.frontier.next_due(now)
        if due is None:
            break
        assert due > now, "nothing was taken, nothing is in flight: it has to wait for something"
        now = due
    return fetches


WEBS = given(
    seed=st.integers(0, 2**32),
    k=st.sampled_from([1, 3, 50]),
    slots=st.integers(1, 6),
    hosts=st.integers(2, 14),
    budgets=st.fixed_dictionaries(
        {
            "CRAWL_MAX_PAGES": st.sampled_from([20, 1000]),
            "CRAWL_SITE_BUDGET": st.sampled_from([0, 2]),
            "TRAP_MAX_URLS_PER_HOST": st.sampled_from([0, 8]),
            "CRAWL_BLOCKED_REST": st.sampled_from([0, 30]),
            "FRONTIER": st.sampled_from(["memory", "disk"]),
        }
    ),
    active=st.integers(1, 8),
)
# These need more than a topic; and Best-N-First fetches a whole batch before it chooses the next, as published.
OTHERS = {"context_graph", "focused", "reinforcement", "omniscient", "intelligent", "best_n_first", "local_rank"}


@pytest.mark.parametrize("scarce", ["time", "both"])
@pytest.mark.parametrize("ordering", ["adaptive", "dom", "best_first"])
@settings(max_examples=8, deadline=None)
@WEBS
def test_a_slot_is_idle_only_while_no_host_is_due(ordering, scarce, seed, k, slots, hosts, budgets, active) -> None:
    web = RandomWeb(seed, hosts=hosts, pages=8, told=False)
    parameters = {"ORDERING_ACTIVE": active, "ORDERING_EXPLORE": 0.5} if ordering == "adaptive" else {}
    policy = {"POLITENESS_MIN_DELAY": DELAY, "POLITENESS_FACTOR": 0, "FRONTIER_BATCH_SIZE": k, "CRAWL_SCARCE": scarce}
    options = read_options({"ORDERING": ordering, **policy, **parameters, **budgets})
    with tempfile.TemporaryDirectory() as name:
        crawl = assemble(Topic("reefs", ("coral reef",), web.seeds), options, clock=lambda: 0.0, folder=Path(name))
        fetches = crawl_without_idle_slots(crawl, web, slots, Random(seed), 1.0 if scarce == "both" else 0.0)
        crawl.close("stopped", 5000.0)
    assert fetches > 2


@pytest.mark.parametrize("ordering", sorted(ORDERINGS.keys() - OTHERS - {"adaptive", "dom", "best_first"}))
@settings(max_examples=3, deadline=None)
@WEBS
def test_no_ordering_leaves_a_due_host_alone(ordering, seed, k, slots, hosts, budgets, active) -> None:
    test_a_slot_is_idle_only_while_no_host_is_due.hypothesis.inner_test(
        ordering, "time", seed, k, slots, hosts, budgets, active
    )


def test_when_pages_are_scarce_slots_do_wait(tmp_path: Path) -> None:
    """This shows that the test can fail: the strict k rule and the floor do leave due hosts idle."""
    web = RandomWeb(7, hosts=12, pages=8, told=False)
    given = {"ORDERING": "adaptive", "ORDERING_ACTIVE": 2, "FRONTIER_BATCH_SIZE": 3, "CRAWL_SCARCE": "pages"}
    options = read_options({**given, "POLITENESS_MIN_DELAY": DELAY, "POLITENESS_FACTOR": 0})
    crawl = assemble(Topic("reefs", ("coral reef",), web.seeds), options, clock=lambda: 0.0, folder=tmp_path)
    with pytest.raises(AssertionError, match="idle"):
        crawl_without_idle_slots(crawl, web, 6, Random(7), 0.0)
