"""What the frontier in Redis keeps besides the contract: several workers, several crawls, answers that get lost."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest
import redis
from crawlproject.frontier.redis.frontier import RedisFrontier
from crawlproject.frontier.redis.message_log import dump_record, load_record
from crawlproject.frontier.redis.operations import done_of, put_of, take_of, taken_of
from crawlproject.frontier.redis.script import FrontierRules, Script
from support.frontiersteps import url
from support.redisserver import empty_database

from crawlproject.errors import BadSetting, StorageFailed
from crawlproject.frontier.views.redis import RedisView
from crawlproject.records import ACTIVE, FIRST, OVER_BUDGET, PLANTED, REREADS, REVISITS, SPARE, WASTE, CrawlUrl
from crawlproject.urls.hosts import host_of

Join = Callable[..., RedisFrontier]


@pytest.fixture
def database() -> redis.Redis:
    return empty_database()


@pytest.fixture
def join(database: redis.Redis) -> Join:
    """Opens the frontier of a crawl as one of its workers: no delay, leases of 60 seconds, unless asked for."""

    def open_one(worker: str = "w", *, crawl: str = "crawl", now: float = 0.0, slots: int = 1, **rules: Any):
        chosen = FrontierRules(**{"min_delay": 0.0, "factor": 0.0, "lease": 60.0, **rules})
        return RedisFrontier(database, crawl, worker, chosen, now=now, random=Random(1), slots=slots)

    return open_one


# ---------------------------------------------------------------- several workers


def test_a_url_is_given_to_one_worker_only(join: Join) -> None:
    one, two = join("one"), join("two")
    one.put_many(url(f"h{number}/") for number in range(10))
    taken = [frontier.take(0.0) for _ in range(5) for frontier in (one, two)]
    assert len({record.url for record in taken if record}) == 10
    assert one.leases() == two.leases() == 10


def test_the_k_rule_is_kept_by_each_worker(join: Join) -> None:
    one, two = join("one", batch_size=3), join("two", batch_size=3)
    one.put_many(url(f"{host}/{page}", score) for host, score in (("a", 9), ("b", 5), ("c", 1)) for page in range(4))

    def fetch(frontier: RedisFrontier) -> str:
        taken = frontier.take(0.0)
        assert taken is not None
        frontier.done(taken.url, 0.0, 0.0)
        return taken.url[7]

    assert [fetch(one), fetch(two), fetch(one), fetch(two)] == ["a", "a", "b", "b"]


def test_a_worker_that_comes_back_remembers_its_picks_and_its_leases_wait_again(join: Join) -> None:
    one = join(batch_size=3, min_delay=5.0)
    one.put_many([url("a/1", 9), url("a/2", 8), url("b/1", 1), url("b/2", 1), url("c/1", 0)])
    taken = one.take(0.0)
    assert taken == url("a/1", 9)
    again = join(batch_size=3, min_delay=5.0, now=10.0)
    assert (again.leases(), len(again)) == (0, 5)
    assert again.take(10.0) == url("b/1", 1), "its host rests from now on, and was picked"
    assert again.take(20.0) == url("c/1", 0), "the pick before the restart counts still"


def test_leases_of_a_worker_that_vanished_are_taken_over(join: Join) -> None:
    lost, left = join("lost"), join("left")
    lost.put(url("a/1"))
    held = lost.take(0.0)
    assert held is not None
    assert left.take(59.0) is None
    assert left.take(61.0) == held
    lost.done(held.url, 62.0, 0.0)
    assert left.leased(held.url) == held, "it comes too late: the lease is another worker's now"
    left.done(held.url, 63.0, 0.0)
    assert (left.leases(), len(left), held.url in left) == (0, 0, True)


def test_closing_deletes_nothing_and_gives_leases_back(database: redis.Redis, join: Join) -> None:
    join("one").put_many([url("a/1"), url("b/1")])
    two = join("two")
    two.take(0.0)
    two.close()
    assert len(join("three")) == 2


def test_another_process_under_the_same_name_takes_over(join: Join) -> None:
    old, _ = join("same"), join("same")
    with pytest.raises(StorageFailed, match="CRAWL_WORKER"):
        old.put(url("a/1"))


def test_a_server_that_lost_the_crawl_ends_the_worker(database: redis.Redis, join: Join) -> None:
    frontier = join()
    database.flushdb()
    with pytest.raises(StorageFailed, match="appendonly"):
        frontier.take(0.0)


# ---------------------------------------------------------------- several crawls on one server


def test_a_host_sees_one_visitor_of_all_crawls(join: Join) -> None:
    one, two = join(crawl="one", min_delay=2.0), join(crawl="two", min_delay=2.0)
    for frontier in (one, two):
        frontier.put_many([url("a/1"), url("a/2")])
    taken = one.take(0.0)
    assert taken is not None
    assert two.take(0.1) is None, "a is being visited"
    assert 0.1 < (two.next_due(0.1) or 0) < 1.0, "it is looked at again soon"
    one.done(taken.url, 0.2, 0.1)
    assert two.take(2.1) is None, "a rests"
    assert two.take(2.2) is not None
    assert one.take(9.0) is None


def test_a_crawl_delay_is_known_to_all_crawls(join: Join) -> None:
    one, two = join(crawl="one"), join(crawl="two")
    one.crawl_delay("a.test", 7.0)
    two.put_many([url("a/1"), url("a/2")])
    taken = two.take(0.0)
    assert taken is not None
    two.done(taken.url, 0.0, 0.0)
    assert two.next_due(0.0) == 7.0


def test_the_visitor_of_a_crawl_that_died_does_not_block_the_host_for_ever(join: Join) -> None:
    one, two = join(crawl="one"), join(crawl="two")
    for frontier in (one, two):
        frontier.put(url("a/1"))
    assert one.take(0.0) is not None
    assert two.take(59.0) is None
    assert two.take(61.0) is not None


# ---------------------------------------------------------------- precedence classes, floor and ceiling


def test_a_floor_and_a_ceiling_are_the_workers_own(join: Join) -> None:
    one, two = join("one", min_delay=5.0), join("two", min_delay=5.0)
    one.put_many([url("a/1", 0.9), url("a/2", 0.9), url("b/1", 0.4), url("c/1", 0.1)])
    one.set_floor(0.5)
    one.set_ceiling(ACTIVE)
    assert [one.take(0.0), one.take(0.0)] == [url("a/1", 0.9), None], "a is in process, and has more"
    assert [two.take(0.0), two.take(0.0)] == [url("b/1", 0.4), url("c/1", 0.1)]


def test_the_class_of_a_host_is_that_of_all_workers(join: Join) -> None:
    one, two = join("one"), join("two")
    one.put_many([url("a/1", 0.9), url("a/2", 0.8), url("a/3", 0.7), url("b/1", 0.1)])
    one.set_host_precedence("a.test", OVER_BUDGET)
    two.set_ceiling(ACTIVE)
    assert two.take(0.0) == url("b/1", 0.1)
    third = join("three")
    third.put(url("c/1", 0.2))
    assert [third.take(0.0), third.take(0.0)] == [url("c/1", 0.2), url("a/1", 0.9)]
    two.set_host_precedence("a.test", ACTIVE)
    third.done("http://a.test/1", 0.0, 0.0)
    one.put(url("d/1", 0.3))
    assert [one.take(0.0), two.take(0.0)] == [url("a/2", 0.8), url("d/1", 0.3)]


def test_the_classes_of_hosts_are_forgotten_with_the_last_worker(join: Join) -> None:
    one = join("one")
    one.put_many([url("a/1", 0.9), url("b/1", 0.1), url("b/2", 0.1, precedence=OVER_BUDGET)])
    one.set_host_precedence("a.test", OVER_BUDGET)
    join("two").close()
    again = join("one")
    assert again.take(0.0) == url("a/1", 0.9), "nobody else was there"
    again.release("http://a.test/1", 0.0, 0.0)
    again.set_host_precedence("a.test", OVER_BUDGET)
    join("two")
    last = join("one")
    assert [last.take(0.0) for _ in range(2)] == [url("b/1", 0.1), url("a/1", 0.9)], "two remembers it"


def test_the_lease_of_another_worker_keeps_its_class(join: Join) -> None:
    one, two = join("one"), join("two")
    one.put(url("a/1"))
    assert one.take(0.0) == url("a/1")
    assert not two.set_precedence("http://a.test/1", WASTE)
    assert one.leased("http://a.test/1") == url("a/1")


@pytest.mark.parametrize("together", [True, False])
def test_many_takes_in_one_call_keep_to_the_ceiling_as_one_by_one(join: Join, together: bool) -> None:
    frontier = join(min_delay=5.0)
    frontier.put_many([url("a/1", 0.9), url("a/2", 0.9), url("b/1", 0.2), url("c/1", 0.1)])
    frontier.set_floor(0.5)
    frontier.set_ceiling(SPARE)
    taken = frontier.take_many(0.0, 4) if together else [frontier.take(0.0), frontier.take(0.0)]
    assert [record.url for record in taken if record] == ["http://a.test/1"], "a has more"
    frontier.drop("http://a.test/2")
    assert [record.score for record in frontier.take_many(0.0, 4)] == [0.2, 0.1]


def test_whoever_looks_into_the_server_sees_the_classes(database: redis.Redis, join: Join) -> None:
    frontier = join()
    records = [url(f"h{precedence}/1", 0.5, precedence=precedence) for precedence in range(WASTE + 1)]
    records[1] = replace(records[1], not_before=60.0)
    frontier.put_many(records)
    frontier.set_host_precedence("h4.test", OVER_BUDGET)
    view = RedisView(database, "crawl")
    assert sorted(view.waiting(), key=lambda record: record.precedence) == records
    assert view.counts()[:2] == (WASTE + 1, 0)
    assert (frontier.take(0.0), list(view.leased())) == (records[0], [records[0]])
    assert [view.find(record.url) for record in records[:2]] == [("leased", records[0]), ("waiting", records[1])]


def test_a_crawl_keeps_no_trace_of_classes_that_it_has_left(database: redis.Redis, join: Join) -> None:
    frontier = join(max_urls=50)
    keys = sorted(key for key in database.scan_iter() if b":seen:" not in key)
    for precedence in range(WASTE + 1):
        frontier.set_host_precedence(f"h{precedence}.test", WASTE - precedence)
        frontier.put_many(url(f"h{host}/{precedence}", precedence=precedence) for host in range(WASTE + 1))
        frontier.hold(f"http://h{precedence}.test/{precedence}", 5.0)
        frontier.block_host(f"h{precedence // 2}.test", 9.0)
    for now in (0.0, 4.0, 5.0, 9.0):
        while taken := frontier.take(now):
            frontier.done(taken.url, now, 0.0)
    for host in range(WASTE + 1):
        frontier.set_host_precedence(f"h{host}.test", ACTIVE)
    assert (len(frontier), frontier.hosts()) == (0, 0)
    left = {b"clock", b"picks"}
    assert {key.rpartition(b":")[2] for key in database.scan_iter() if b":seen:" not in key and key not in keys} == left
    assert database.hget("topical:{0}:crawl:crawl:meta", "classes") == b""


def test_scores_that_stood_for_classes_in_an_earlier_version(database: redis.Redis, join: Join) -> None:
    frontier = join()
    scores = {"a/reread": 8e18, "a/revisit": 2e18 * 1.25, "b/seed": 1e18, "b/planted": 5e17, "b/other": 2.0}
    frontier.put_many(url(path, score, not_before=60.0 * ("revisit" in path)) for path, score in scores.items())
    frontier.put_many([url("c/1", math.inf), url("c/2", 1e18)])
    database.hdel("topical:{0}:crawl:crawl:meta", "classed")
    frontier = join(batch_size=1)
    frontier.put(url("new/1", 9e18))
    waiting = sorted(frontier.waiting(), key=lambda record: (record.precedence, -record.score, record.url))
    assert waiting == [
        url("a/reread", 0.0, precedence=REREADS),
        url("a/revisit", 0.25, precedence=REVISITS, not_before=60.0),
        url("b/seed", 0.0, precedence=FIRST),
        url("c/2", 0.0, precedence=FIRST),
        url("b/planted", 0.0, precedence=PLANTED),
        url("c/1", math.inf),
        url("new/1", 9e18),
        url("b/other", 2.0),
    ]
    assert frontier.best() == 0.0
    taken = []
    while one := frontier.take(0.0):
        taken.append(one)
        frontier.done(one.url, 0.0, 0.0)
    assert taken == [waiting[0], *waiting[2:]]
    assert (frontier.next_due(0.0), frontier.take(60.0)) == (60.0, waiting[1])


def test_hosts_below_the_floor_that_rest_wake_nobody(join: Join) -> None:
    frontier = join(min_delay=5.0)
    frontier.put_many(url(f"h{host}/{page}", 0.1) for host in range(90) for page in range(2))
    for record in frontier.take_many(0.0, 30):
        frontier.done(record.url, 0.0, 0.0)
    frontier.put_many([url("a/1", 0.9), url("a/2", 0.9)])
    frontier.set_floor(0.5)
    frontier.set_ceiling(SPARE)
    taken = frontier.take(1.0)
    assert taken == url("a/1", 0.9)
    frontier.done(taken.url, 1.0, 0.0)
    assert (frontier.take(1.0), frontier.next_due(1.0)) == (None, 6.0), "30 hosts rest until 5"
    frontier.set_floor(-math.inf)
    assert len(frontier.take_many(1.0, 99)) == 60
    assert frontier.next_due(1.0) == 5.0


def test_each_slot_keeps_the_ceiling_for_itself(join: Join) -> None:
    frontier = join(slots=4, batch_size=10, min_delay=1.0)
    high, low = (
        [url(f"{name}{host}/{page}", score) for host in range(40) for page in range(2)]
        for name, score in (("a", 0.9), ("b", 0.1))
    )
    frontier.put_many(low + high)
    frontier.set_floor(0.5)
    frontier.set_ceiling(ACTIVE)
    taken = frontier.take_many(0.0, 160)
    assert {record.score for record in taken} == {0.9} and len(taken) == 40, (
        "those of all slots, while they are in process"
    )
    assert frontier.next_due(0.0) is None
    for record in taken:
        frontier.done(record.url, 0.0, 0.0)
    assert frontier.next_due(0.0) == 1.0
    now, scores = 1.0, []
    while len(frontier):
        for record in frontier.take_many(now, 160):
            scores.append(record.score)
            frontier.done(record.url, now, 0.0)
        now += 1.0
    assert len(scores) == 120 and scores[:40] == [0.9] * 40


def test_the_best_score_is_known_wherever_it_waits(join: Join) -> None:
    frontier = join()
    records = [url("a/1", 0.9, not_before=9.0), url("a/2", 0.2), url("b/1", -math.inf), url("c/1", 0.5, not_before=8.0)]
    frontier.put_many(records)
    assert (frontier.best(), frontier.hosts()) == (0.9, 3)
    frontier.drop("http://a.test/1")
    assert frontier.best() == 0.5
    frontier.hold("http://a.test/2", 7.0)
    assert frontier.take(0.0) == url("b/1", -math.inf)
    assert (frontier.best(), frontier.take(7.0), frontier.best()) == (0.5, url("a/2", 0.2, not_before=7.0), 0.5)
    frontier.put(url("d/1", math.inf))
    assert frontier.best() == math.inf


# ---------------------------------------------------------------- answers that get lost


def test_every_call_may_be_repeated(database: redis.Redis, join: Join) -> None:
    """Each step is done twice, as by a client that did not hear the first answer."""
    join("w", min_delay=1.0, max_urls_per_host=9)
    script = Script(database, "crawl", "w", "", FrontierRules(min_delay=1.0, factor=0.0, max_urls_per_host=9))
    puts = [put_of(url(f"{host}/{page}", page)) for host in "abc" for page in range(12)]
    first, second = (script.call(0, puts) for _ in range(2))
    assert (first.count(1), first.count(-2)) == (27, 9)
    assert second.count(1) == 0
    for round_ in range(9):
        now = 10.0 * round_
        ask = [take_of(now, 2, [], question=round_, again=again) for again in (False, True)]
        taken, repeated = (taken_of(script.call(0, [question])[0])[0] for question in ask)
        assert len(taken) == 2
        assert sorted(map(str, repeated)) == sorted(map(str, taken))
        ends = [step for record in taken for step in (("page", put_of(record)[1]), done_of(record.url, now, 0.0))]
        assert [script.call(0, ends), script.call(0, ends)] == [[1, 1, 1, 1], [0, 0, 0, 0]]
    counts = script.call(0, [("counts",)])[0]
    assert counts[:6] == [27 - 18, 0, 3, 0, 18, 27]


# ---------------------------------------------------------------- slots


def test_hosts_are_spread_over_slots_and_nothing_gets_lost(join: Join) -> None:
    frontier = join(slots=4, batch_size=10, min_delay=1.0)
    records = [url(f"h{host}/{page}", page) for host in range(30) for page in range(4)]
    assert frontier.put_many(records) == 120
    picks, now = [], 0.0
    while len(frontier):
        taken = frontier.take(now)
        if taken is None:
            due = frontier.next_due(now)
            assert due is not None and due > now
            now = due
            continue
        picks.append((taken.url.split("/")[2], frontier.hosts()))
        frontier.done(taken.url, now, 0.0)
    assert len(picks) == 120
    for place in range(9, 120):
        if picks[place][1] >= 10:
            assert len({host for host, _ in picks[place - 9 : place + 1]}) == 10
    assert frontier.states([records[0].url, "http://no.test/"]) == {records[0].url: "done", "http://no.test/": ""}


def test_the_best_of_all_slots_leaves_first(join: Join) -> None:
    frontier = join(slots=4)
    frontier.put_many(url(f"h{number}/", number) for number in range(20))
    taken = [frontier.take(0.0) for _ in range(20)]
    assert [record.score for record in taken if record] == list(range(19, -1, -1))


def test_classes_are_kept_over_all_slots(join: Join) -> None:
    frontier = join(slots=4, batch_size=1)
    records = [
        url(f"h{host}/{precedence}", 0.1 * host, precedence=precedence)
        for host in range(12)
        for precedence in (1, 4, 8)
    ]
    frontier.put_many(records)
    frontier.put_many(url(f"h{host}/held", 9.0, precedence=FIRST, not_before=60.0) for host in range(4))
    for host in range(0, 12, 2):
        frontier.set_host_precedence(f"h{host}.test", OVER_BUDGET)
    taken = []
    while one := frontier.take(0.0):
        taken.append((one.precedence if one.precedence != 4 or host_of(one.url)[1:-5] in "13579 11" else 7, one.score))
        frontier.done(one.url, 0.0, 0.0)
    assert [precedence for precedence, _ in taken] == [1] * 12 + [4] * 6 + [7] * 6 + [8] * 12
    assert frontier.best() == 9.0


def test_crawls_of_one_server_have_one_number_of_slots(join: Join) -> None:
    join(slots=2)
    with pytest.raises(BadSetting, match="spread over 2 slots"):
        join(crawl="another", slots=3)


# ---------------------------------------------------------------- the seen test, and what a URL costs


def test_the_seen_test_stays_exact_and_small_while_it_grows(database: redis.Redis, join: Join) -> None:
    frontier, number = join(), 6000
    for start in range(0, number, 500):
        records = [url(f"h{page % 300}/{page}") for page in range(start, start + 500)]
        assert frontier.put_many(records) == 500
        assert frontier.put_many(records) == 0
    states = frontier.states(f"http://h{page % 300}.test/{page}" for page in range(2 * number))
    assert sum(state == "waiting" for state in states.values()) == number
    buckets = list(database.scan_iter(match="*:seen:*", count=1000))
    assert len(buckets) > 100
    assert {database.object("encoding", bucket) for bucket in buckets} <= {b"listpack", b"ziplist"}


def test_a_done_url_costs_few_bytes(database: redis.Redis, join: Join) -> None:
    frontier, number = join(), 20_000
    before = database.info("memory")["used_memory"]
    for start in range(0, number, 500):
        frontier.put_many(
            url(f"h{page % 50}/a/path/of/eighty/characters/or/so/{page:030d}") for page in range(start, start + 500)
        )
        while taken := frontier.take_many(0.0, 50):
            frontier.call(0, [done_of(record.url, 0.0, 0.0) for record in taken])
    assert len(frontier) == 0
    assert (database.info("memory")["used_memory"] - before) / number < 45


@pytest.mark.parametrize(
    "record",
    [
        url("a/"),
        url("a/", -math.inf, anchor="Grüße", request=""),
        url("a/", 0.1, depth=3, parent="http://p.test/", context_score=math.inf, inherited=(0.1, math.inf)),
        url("a/", 0.1, request='{"body": "x"}', not_before=3.5),
    ],
)
def test_records_travel_as_json(record: CrawlUrl) -> None:
    assert load_record(dump_record(record), record.score, record.not_before) == record


# ---------------------------------------------------------------- revisits


def test_what_a_visit_costs_does_not_grow_with_the_held_urls_of_its_host(join: Join, database: redis.Redis) -> None:
    """Counted in commands inside the script: held URLs with better scores were passed over one by one."""
    frontier, costs, page = join(), [], 0

    def commands() -> int:
        return sum(one["calls"] for one in database.info("commandstats").values())

    for held in (10, 1000):
        while len(frontier) < held:
            page += 1
            frontier.put(url(f"a/{page}", 9.0, not_before=1e6 + page))
        frontier.put_many([url(f"a/new{held}", 0.5), url(f"a/next{held}", 0.1)])
        before = commands()
        taken = frontier.take(0.0)
        assert taken == url(f"a/new{held}", 0.5)
        frontier.done(taken.url, 0.0, 0.0)
        costs.append(commands() - before)
        frontier.drop(f"http://a.test/next{held}")
    assert costs[1] <= costs[0] + 5


def test_held_urls_of_an_earlier_version_stay_held(join: Join, database: redis.Redis) -> None:
    """It had them in the queues of their hosts, too."""
    frontier = join()
    frontier.put_many([url("a/1", 0.9, not_before=50.0), url("a/2", 0.5), url("b/1", 0.7, not_before=60.0)])
    root = "topical:{0}:crawl:crawl"
    for host in ("a.test", "b.test"):
        for arrival, rank in database.zrange(f"{root}:held:{host}", 0, -1, withscores=True):
            database.zadd(f"{root}:queue:{host}", {arrival: rank})
        database.delete(f"{root}:held:{host}")
    database.hdel(f"{root}:meta", "held")
    again = join()
    assert (again.best(), again.take(0.0), again.take(49.0)) == (0.9, url("a/2", 0.5), None)
    again.done("http://a.test/2", 49.0, 0.0)
    assert again.take(50.0) == url("a/1", 0.9, not_before=50.0)
    assert (again.next_due(50.0), again.take(60.0)) == (60.0, url("b/1", 0.7, not_before=60.0))


def test_a_repeated_call_lets_a_finished_url_wait_once(join: Join) -> None:
    frontier = join()
    frontier.put(url("a/1", 0.5))
    taken = frontier.take(0.0)
    assert taken
    call = done_of(taken.url, 1.0, 0.0, 20.0, 0.8)
    assert [frontier.call(0, [call]), frontier.call(0, [call])] == [[1], [0]]
    assert (len(frontier), frontier.best(), frontier.take(19.0), frontier.next_due(19.0)) == (1, 0.8, None, 20.0)


def test_times_of_next_visits_are_by_the_clock_of_the_server(database: redis.Redis) -> None:
    """As all others: they travel as differences to what the clock of the caller shows."""
    rules = FrontierRules(min_delay=0.0, factor=0.0, lease=60.0)
    frontier = RedisFrontier(database, "crawl", "w", rules, now=0.0, random=Random(1), clock=lambda: 1000.0)
    frontier.put(url("a/1", 0.5))
    assert frontier.take(1000.0)
    frontier.done("http://a.test/1", 1000.0, 0.0, 1050.0)
    [held] = frontier.waiting()
    assert held.not_before == pytest.approx(1050.0, abs=5.0)
    assert frontier.take(1040.0) is None and frontier.take(1060.0) is not None
