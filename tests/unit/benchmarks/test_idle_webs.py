"""The honest webs of `idle.py` are honest: their link targets exist, or are known to be forbidden."""

from __future__ import annotations

import re
import socket
from collections import Counter
from urllib.parse import urljoin, urlsplit
from urllib.robotparser import RobotFileParser

import pytest

from benchmarks.idle_webs import NATURAL, Sites
from crawlproject.http.virtual_web_server import running


def links_of(web: Sites, url: str) -> list[str]:
    found = re.findall(r'href="([^"]+)"', web.get(url).body.decode())
    return [urljoin(url, link.replace("&amp;", "&")) for link in found]


def may_fetch(web: Sites, url: str) -> bool:
    parser = RobotFileParser()
    parser.parse(web.get(urljoin(url, "/robots.txt")).body.decode().splitlines())
    return parser.can_fetch("anybody", url)


@pytest.mark.parametrize("name", NATURAL)
def test_every_link_leads_to_a_page_or_to_what_it_says(name: str) -> None:
    web = NATURAL[name]
    pages = [link for link in links_of(web, web.seeds[0]) if web.is_useful(link)]
    others = [link for link in links_of(web, pages[0]) if not web.is_useful(link)]
    assert len(pages) == web.links
    assert all(web.get(page).status == 200 and may_fetch(web, page) for page in pages)
    if web.forbidden or web.wiki == "forbidden":
        assert others
        assert not any(may_fetch(web, link) for link in others)
    elif web.wiki:
        expected = {"empty": {200: 12}, "refused": {403: 11, 200: 1}}[web.wiki]
        assert Counter(web.get(link).status for link in others) == expected


def test_no_two_pages_have_one_text() -> None:
    web = NATURAL["forbidden_100"]
    bodies = {web.get(f"{seed.rstrip('/')}{web.path(page)}").body for seed in web.seeds[:10] for page in range(100)}
    assert len(bodies) == 1_000


def test_forty_hosts_are_one_domain_and_five_hundred_are_ten_addresses() -> None:
    assert {urlsplit(seed).hostname.partition(".")[2] for seed in NATURAL["forbidden_5"].seeds} == {
        "university.example"
    }  # type: ignore[union-attr]
    hosts = Counter(NATURAL["addresses"].addresses.values())
    assert list(hosts.values()) == [50] * 10
    assert NATURAL["addresses"].ideal == pytest.approx(10 / 1.02)


def test_a_server_can_listen_at_another_address() -> None:
    with (
        running(NATURAL["large"], address="127.0.0.2") as server,
        socket.create_connection(("127.0.0.2", server.port), timeout=5),
    ):
        pass
