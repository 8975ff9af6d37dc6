"""A blocking host rests, longer each time, and is then given up; a host that answers again is restored."""

from __future__ import annotations

import pytest
from support.events import error_event, page_event

from crawlproject.parts.sites.site import GIVEN_UP, LONGEST_REST, HostHealth
from crawlproject.records import FetchEvent, Page, Visit

URL = "http://www.a.example/1"


def failed(hosts: HostHealth, url: str, status: int, error: str, at: float) -> float:
    """The time until which the host rests after a failed fetch."""
    hosts.learn(error_event(url, error, at, status))
    return hosts.rests_until(url)


def test_rests_double_and_end_in_giving_up():
    hosts = HostHealth(first_rest=10.0, patience=4)
    assert [failed(hosts, URL, 429, "http 429", 100.0) for _ in range(3)] == [110.0, 120.0, 140.0]
    assert hosts.refusal(URL) == ""
    failed(hosts, URL, 503, "http 503", 100.0)
    assert hosts.refusal(URL) == GIVEN_UP
    assert hosts.refusal("http://b.example/") == ""


def test_the_frontier_is_told_of_each_rest_and_of_its_end():
    told: list[tuple[str, float]] = []
    hosts = HostHealth(first_rest=10.0, rests=lambda host, until: told.append((host, until)))
    failed(hosts, URL, 403, "block/captcha", 100.0)
    assert hosts.rests_until("http://www.a.example/2") == 110.0
    assert hosts.rests_until("http://b.example/2") == 0.0
    assert list(hosts.resting.items()) == [("www.a.example", 110.0)]
    hosts.learn(page_event(Page(URL)))
    hosts.learn(page_event(Page(URL)))
    assert told == [("www.a.example", 110.0), ("www.a.example", 0.0)]
    assert not hosts.resting and hosts.rests_until(URL) == 0.0


def test_a_host_that_does_not_answer_rests_as_long_as_it_is_told():
    told: list[tuple[str, float]] = []
    hosts = HostHealth(rests=lambda host, until: told.append((host, until)))
    hosts.rest(URL, 7_000.0)
    assert told == [("www.a.example", 7_000.0)] and hosts.rests_until(URL) == 7_000.0
    assert hosts.refusal(URL) == ""


def test_a_page_takes_back_one_block():
    hosts = HostHealth(first_rest=10.0, patience=3)
    for _ in range(10):
        failed(hosts, URL, 200, "block/captcha", 0.0)
        hosts.learn(page_event(Page(URL)))
    assert hosts.refusal(URL) == ""
    for _ in range(3):
        failed(hosts, URL, 200, "block/captcha", 0.0)
        failed(hosts, URL, 200, "block/captcha", 0.0)
        hosts.learn(page_event(Page(URL)))
    assert hosts.refusal(URL) == GIVEN_UP


@pytest.mark.parametrize(("status", "error"), [(403, "http 403"), (200, "block/captcha")])
def test_one_forbidden_page_is_the_page_several_are_the_host(status, error):
    """Fossil asks for a captcha only before pages that are expensive for it."""
    hosts = HostHealth(first_rest=10.0)
    assert [failed(hosts, URL, status, error, 0.0) > 0.0 for _ in range(3)] == [False, False, True]
    mixed = HostHealth(first_rest=10.0)
    for _ in range(20):
        assert failed(mixed, URL, status, error, 0.0) == 0.0
        mixed.learn(page_event(Page(URL)))


def test_a_wall_with_a_status_of_its_own_is_the_host():
    assert failed(HostHealth(first_rest=10.0), URL, 403, "block/challenge", 0.0) == 10.0


@pytest.mark.parametrize("error", ["http 404", "http 500", "TimeoutError", "soft_404"])
def test_what_is_missing_is_no_block(error):
    hosts = HostHealth(patience=1)
    assert failed(hosts, URL, 404, error, 0.0) == 0.0 and hosts.refusal(URL) == ""


def test_a_parked_domain_is_given_up_with_all_below_it():
    hosts = HostHealth()
    failed(hosts, "http://x.a.example/", 200, "parked", 0.0)
    assert hosts.refusal("http://y.a.example/") == ""
    failed(hosts, "http://z.a.example/", 200, "parked", 0.0)
    assert hosts.refusal("http://y.a.example/") == GIVEN_UP


def test_no_rest_is_longer_than_the_longest():
    hosts = HostHealth(first_rest=1000.0, patience=0)
    assert max(failed(hosts, URL, 429, "http 429", 0.0) for _ in range(60)) == LONGEST_REST
    assert hosts.refusal(URL) == "", "0 of patience means never"


def test_hosts_that_are_never_given_up_may_block_for_ever():
    for rest in (0.0, 10.0):
        hosts = HostHealth(first_rest=rest, patience=0)
        assert failed(hosts, URL, 429, "http 429", 5.0) == (15.0 if rest else 0.0), "0 of the first rest means no rest"
        for _ in range(2_000):
            failed(hosts, URL, 429, "http 429", 5.0)
        assert hosts.refusal(URL) == ""


def test_a_wiki_that_lets_nobody_edit_is_no_host_that_blocks() -> None:
    health = HostHealth()
    for number in range(50):
        url = f"http://wiki.example/page/{number}?action=edit"
        health.learn(FetchEvent(Visit(url, 403, float(number), error="http 403")))
    assert not health.rests_until("http://wiki.example/") and not health.given_up


@pytest.mark.parametrize("end", ["", "/"])
def test_a_host_that_blocks_almost_all_is_given_up_also_where_each_page_ends_with_a_slash(end: str) -> None:
    """``/2024/reef/`` is a page of the folder ``/2024``, as ``/2024/reef`` is: no folder of its own, which never brought one."""
    hosts = HostHealth(first_rest=10.0)
    for number in range(20):
        url = f"http://www.a.example/2024/reef-{number}{end}"
        if number % 5:
            failed(hosts, url, 200, "block/captcha", 0.0)
        else:
            hosts.learn(page_event(Page(url)))
    assert hosts.refusal(URL) == GIVEN_UP


@pytest.mark.parametrize(("status", "error"), [(403, "http 403"), (200, "block/captcha")])
def test_what_never_brought_a_page_says_little_of_a_host_that_brings_others(status: int, error: str) -> None:
    """Fossil's annotate, blame and fileage ask for a captcha, one after the other, beside a thousand pages that do not."""
    hosts = HostHealth(first_rest=10.0)
    hosts.learn(page_event(Page("http://www.a.example/info?name=1")))
    guarded = [
        f"http://www.a.example/{name}?file={number}" for number in range(3) for name in ("annotate", "export", "age")
    ]
    assert [failed(hosts, url, status, error, 0.0) for url in guarded] == [0.0] * 9
    hosts.learn(page_event(Page("http://www.a.example/info?name=2")))
    assert [failed(hosts, url, status, error, 0.0) for url in guarded] == [0.0] * 9, "a page came in between"
    more = [failed(hosts, f"http://www.a.example/more?{number}", status, error, 0.0) for number in range(3)]
    assert more[1] == 0.0 < more[2], "in the end it may be the host"
    other = HostHealth(first_rest=10.0)
    other.learn(page_event(Page("http://www.a.example/info?name=1")))
    kept_out = [
        failed(other, f"http://www.a.example/info?name={number}", status, error, 0.0) > 0 for number in range(3)
    ]
    assert kept_out == [False, False, True], "a page of this kind came before"
