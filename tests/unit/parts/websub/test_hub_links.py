"""The hubs that a feed names: in headers, in XML, in JSON."""

from __future__ import annotations

from time import perf_counter

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.parts.listings.feeds import read_feed
from crawlproject.parts.listings.listing import MAX_HUBS, NO_LINKS, HubLinks
from crawlproject.parts.websub.subscriptions import links_in_header

HUB, OTHER, SELF = "https://hub.example/", "https://other.example/hub?x=1,2;y", "http://h.example/feed"
BOTH = HubLinks(SELF, (HUB, OTHER))


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (f'<{HUB}>; rel="hub", <{OTHER}>; rel=hub, <{SELF}>; rel="self"', BOTH),
        (f'<{SELF}> ; REL = "alternate Self" ,<{HUB}>;title="a, \\"b; rel=x";rel="hub",<{OTHER}>;rel=HUB', BOTH),
        (f"<{SELF}>; rel=self; type=x, <{HUB}>; type=y; rel=hub,<{OTHER}>;rel=hub", BOTH),
        (f'<{SELF}>; rel="self hub"', HubLinks(SELF, (SELF,))),
        (f"<{HUB}>; rel=hubs, <{HUB}>; rel=hub-x, <{HUB}>", NO_LINKS),
        (f'<{HUB}>; rel="hub", <{HUB}>; rel="hub"', HubLinks("", (HUB,))),
        ("", NO_LINKS),
        (f'<https://h.example/{"x" * 3000}>; rel="hub"', NO_LINKS),
    ],
)
def test_headers(header: str, expected: HubLinks) -> None:
    assert links_in_header(header) == expected


@given(st.text(alphabet='<>;=," relhubsf\x00é/:.', max_size=200))
def test_any_header_gives_an_answer(header: str) -> None:
    found = links_in_header(header)
    assert len(found.hubs) <= MAX_HUBS and all(found.hubs)


@pytest.mark.parametrize("piece", ['<a>;"', "<", '<a>;rel="hub",', '"', "<a>; rel=" + " " * 50, "<a>;x=", '\\"<>'])
def test_a_hostile_header_costs_little(piece: str) -> None:
    began = perf_counter()
    links_in_header(piece * (200_000 // len(piece)))
    assert perf_counter() - began < 2.0, "milliseconds, on a machine that is not busy"


ATOM = f"""<feed xmlns="http://www.w3.org/2005/Atom"><link rel="hub" href="{HUB}"/><link rel="self" href="{SELF}"/>
<link rel="hub" href="https://other.example/hub?x=1,2;y"/><entry><link href="http://h.example/a"/>
<link rel="hub" href="http://not.example/"/></entry></feed>""".encode()
RSS = f"""<rss xmlns:atom="http://www.w3.org/2005/Atom"><channel><link>http://h.example/</link>
<atom:link rel="hub" href="{HUB}"/><atom:link href="{SELF}" rel="self" type="application/rss+xml"/>
<atom:link rel="hub" href="{OTHER}"/><item><link>http://h.example/a</link></item></channel></rss>""".encode()
JSON = orjson.dumps(
    {
        "feed_url": SELF,
        "hubs": [{"type": "WebSub", "url": HUB}, 7, {"url": 7}, {"type": "rssCloud", "url": OTHER}],
        "items": [{"url": "http://h.example/a"}],
    }
)


@pytest.mark.parametrize("body", [ATOM, RSS, JSON])
def test_feeds(body: bytes) -> None:
    assert read_feed(body).links == BOTH
    assert len(read_feed(body).entries) == 1


def test_no_more_than_a_few_hubs_count() -> None:
    many = "".join(f'<link rel="hub" href="http://h{number}.example/"/>' for number in range(1_000))
    assert len(read_feed(f"<feed>{many}</feed>".encode()).links.hubs) == MAX_HUBS
