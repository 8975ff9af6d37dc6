"""A host that blocks rests, longer each time, and is given up; one that answers again is forgiven."""

from __future__ import annotations

import pytest
from support.events import error_event, page_event

from crawlproject.parts.sites.host_health import GIVEN_UP, LONGEST_REST, HostHealth
from crawlproject.records import CrawlUrl, Page

URL = "http://www.a.example/1"


def failed(hosts: HostHealth, url: str, status: int, error: str, at: float) -> float:
    """Until when the host rests after a fetch."""
    hosts.apply(error_event(url, error, at, status))
    return hosts.host_blocked_until(url)


def test_rests_double_and_end_in_giving_up():
    hosts = HostHealth(first_rest=10.0, patience=4)
    assert [failed(hosts, URL, 429, "http 429", 100.0) for _ in range(3)] == [110.0, 120.0, 140.0]
    assert hosts.refusal(URL) == ""
    failed(hosts, URL, 503, "http 503", 100.0)
    assert hosts.refusal(URL) == GIVEN_UP
    assert hosts.refusal("http://b.example/") == ""


def test_its_urls_wait_until_the_rest_is_over():
    hosts = HostHealth(first_rest=10.0)
    failed(hosts, URL, 200, "block/captcha", 100.0)
    assert hosts.hold_until(CrawlUrl("http://www.a.example/2", 1.0), 101.0) == 110.0
    assert hosts.release_order(URL, 101.0) == 0.0 and hosts.release_order(URL, 111.0) == 1.0
    assert hosts.hold_until(CrawlUrl("http://b.example/2", 1.0), 101.0) <= 101.0


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


def test_one_forbidden_page_is_the_page_several_are_the_host():
    hosts = HostHealth(first_rest=10.0)
    assert [failed(hosts, URL, 403, "http 403", 0.0) > 0.0 for _ in range(3)] == [False, False, True]


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
