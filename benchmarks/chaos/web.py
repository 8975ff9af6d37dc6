"""The small web of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from crawlproject.records import Reply
from crawlproject.webs.base import not_held

PORTAL = "http://portal.example/"
_HTML = {"content-type": "text/html"}


class ChaosWeb:
    """A portal, 6 to 20 hosts, and 60 to 200 pages that link to each other at random; also redirects, missing pages and
    pages that robots.txt forbids. Each page has a unique text.
    """

    warnings: Sequence[str] = ()

    def __init__(self, random: Random) -> None:
        self._random = random
        self._words = ["".join(random.choices("abdegiklmnoprstu", k=7)) for _ in range(3000)]
        self._replies: dict[str, Reply] = {}
        hosts = [f"http://h{number}.example/" for number in range(random.randint(6, 20))]
        inner = [f"{random.choice(hosts)}p{number}" for number in range(random.randint(60, 200) - len(hosts))]
        self.pages = {PORTAL, *hosts, *inner}
        self._page(PORTAL, hosts)
        for host in hosts:
            own = [url for url in inner if url.startswith(host)]
            self._page(host, [*own, f"{host}missing", f"{host}private/page", f"{host}moved"])
            self._page(f"{host}private/page", [])
            self._add(f"{host}moved", 302, {"location": random.choice(inner)}, "")
            self._add(f"{host}robots.txt", 200, {"content-type": "text/plain"}, "User-agent: *\nDisallow: /private/\n")
        for url in inner:
            self._page(url, random.sample(inner, 3))

    def get(self, url: str) -> Reply:
        return self._replies.get(url) or not_held(url)

    def urls(self) -> Iterator[str]:
        return iter(self._replies)

    def __contains__(self, url: str) -> bool:
        return url in self._replies

    def close(self) -> None:
        return None

    def _page(self, url: str, links: Sequence[str]) -> None:
        text = " ".join(self._random.sample(self._words, 80))
        listed = "".join(f'<p>reef <a href="{link}">coral {self._random.choice(self._words)}</a></p>' for link in links)
        self._add(url, 200, _HTML, f"<title>{url}</title><p>coral reef {text}</p>{listed}")

    def _add(self, url: str, status: int, headers: dict[str, str], body: str) -> None:
        self._replies[url] = Reply(url, status, headers, body.encode(), self._random.uniform(0.005, 0.04))
