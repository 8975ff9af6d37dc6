"""The hostile web: a good part that does not depend on the bad part, and endless bad sites."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from urllib.parse import urljoin

import pytest

from benchmarks.hostile_web import GROUPS, KINDS, HostileWeb
from benchmarks.hostile_web.opening import open_hostile
from benchmarks.hostile_web.topic import topic_of, topic_text
from crawlproject.errors import BadWeb
from crawlproject.pages.html.parse import parse_document
from crawlproject.urls.hosts import host_of


@pytest.fixture(scope="module")
def web() -> HostileWeb:
    return HostileWeb(good=60)


def links_of(web: HostileWeb, url: str) -> list[str]:
    reply = web.get(url)
    if 300 <= reply.status < 400:
        return [reply.headers["location"]]
    return [urljoin(url, link.href) for link in parse_document(reply.body, url=url).links]


def unique(urls: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for url in urls:
        if url not in seen:
            seen.add(url)
            yield url


def test_three_of_five_hosts_are_bad(web):
    assert web.hosts == (60, 90)


def test_the_good_part_links_among_itself_as_it_does_without_the_bad_part(web):
    alone = HostileWeb(good=60, share=0.0)
    good = set(alone.urls())
    assert set(web.urls()) == good
    lured = 0
    for url in sorted(good)[::17]:
        with_bad = links_of(web, url)
        assert [link for link in with_bad if not web.kind_of(host_of(link))] == links_of(alone, url)
        lured += any(web.kind_of(host_of(link)) for link in with_bad)
    assert lured


def test_every_good_page_can_be_reached_from_the_homes_of_its_site(web):
    site = next(url for url in web.urls())
    found, queue = {site}, deque([site])
    while queue:
        for link in links_of(web, queue.popleft()):
            if host_of(link) == host_of(site) and link not in found:
                found.add(link)
                queue.append(link)
    assert {url for url in web.urls() if host_of(url) == host_of(site)} <= found


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_leads_on_without_end(kind):
    web = HostileWeb(good=20, kinds=[kind])
    bad = (link for url in web.urls() for link in links_of(web, url) if web.kind_of(host_of(link)) == kind)
    queue = deque(islice(unique(bad), 3))
    found = set(queue)
    for _ in range(40):
        for link in links_of(web, queue.popleft()):
            if web.kind_of(host_of(link)) == kind and link not in found:
                found.add(link)
                queue.append(link)
    assert len(queue) > 20


def test_throwaway_domains_belong_to_a_swarm():
    web = HostileWeb(good=20, kinds=["swarms", "parked"])
    home = next(link for url in web.urls() for link in links_of(web, url) if web.kind_of(host_of(link)) == "swarms")
    domains = {host_of(link) for link in links_of(web, home) if web.kind_of(host_of(link)) == "swarms"}
    assert len(domains) > 5
    assert all(web.get(f"http://{domain}/").status == 200 for domain in domains)
    assert web.kind_of("nobody1000000.test") == ""


def test_cloaked_pages_are_a_shop_for_browsers_only():
    web = HostileWeb(good=20, kinds=["cloaked"])
    bad = next(link for url in web.urls() for link in links_of(web, url) if web.kind_of(host_of(link)))
    browser = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
    assert web.get_as(bad, "topical-crawler/1.0") == web.get(bad)
    assert web.get_as(bad, "Mozilla/5.0 (compatible; somebot/2.1)") == web.get(bad)
    assert b"buy now" in web.get_as(bad, browser).body
    assert b"buy now" not in web.get(bad).body
    good = next(web.urls())
    assert web.get_as(good, browser) == web.get(good)
    assert web.get_as("http://nobody.example/", browser).status == 404


def test_content_farms_steal_from_good_pages():
    web = HostileWeb(good=20, kinds=["content_farm"])
    bad = next(link for url in web.urls() for link in links_of(web, url) if web.kind_of(host_of(link)))
    sentences = re.findall(r"[A-Z][a-z ]{40,}\.", web.get(bad).body.decode())
    honest = b"".join(web.get(url).body for url in web.urls()).decode()
    assert sum(sentence in honest for sentence in sentences) > 5


def test_the_same_seed_gives_the_same_bytes(web):
    again = HostileWeb(good=60)
    link = next(link for url in web.urls() for link in links_of(web, url) if web.kind_of(host_of(link)))
    assert web.get(link) == again.get(link)
    assert web.get(link).body != HostileWeb(good=60, seed=1).get(link).body


def test_a_topic_knows_its_targets(web):
    topic = topic_of(web)
    assert set(topic.targets) <= set(web.urls())
    assert set(topic.seeds) <= set(topic.targets)
    assert topic.targets[0] in topic_text(web)


def test_it_opens_by_name():
    assert open_hostile("hostile").hosts == (400, 600)
    assert open_hostile("hostile:good").hosts == (400, 0)
    assert open_hostile("hostile:parked").hosts == (400, 600)
    assert open_hostile("hostile:third,parked").kinds == (*GROUPS["third"], "parked")
    assert next(open_hostile("hostile:good@7").urls()) == next(HostileWeb(seed=7, share=0).urls())
    with pytest.raises(BadWeb, match="whole number"):
        open_hostile("hostile@seven")
    with pytest.raises(BadWeb, match="no kind 'nice'"):
        open_hostile("hostile:nice")
