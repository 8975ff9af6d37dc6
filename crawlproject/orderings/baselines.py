"""Baselines for comparisons: orderings that use nothing of the text of pages.

Breadth-first: a queue (paper 003 section 4.2), the baseline of every comparison. Random: every known URL is equally likely
to be next, the lower bound (paper 002 section 3). The location metric (paper 002 section 2): only host and path count. Near
the root of each site (paper 004 section 4.1): only links within the site count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.orderings.learning import ExponentialDraw, SeededDraw, WaitingUrls
from crawlproject.records import CrawlUrl, Link, Page
from crawlproject.urls.hosts import host_of

_UNLIKELY = 3.0  # expected rings; that none of so many came is too unlikely to be chance (5%)


class BreadthFirst(BaseOrdering):
    """Every link has the same score, and the frontier returns equal scores first in, first out."""

    def score(self, page: Page, link: Link) -> float:
        return 0.0

    def seed_score(self, url: str) -> float:
        return 0.0


class RandomOrder(BaseOrdering):
    """Minus the time at which the clock of the URL rings: an exponential time of mean 1 after the URL was found.

    The clocks have no memory, so the next one to ring is a uniform draw from the waiting URLs, old and new. The current time
    is the ring of the last URL fetched. Politeness delays some hosts: a fetch out of turn advances the time by no more than
    chance would, and each host also has its own time, that of its last fetch, which its URLs use where it differs from that
    of the crawl.
    """

    learns = True

    def __init__(self, context: OrderingContext) -> None:
        super().__init__(context)
        self._draw = ExponentialDraw(SeededDraw(context.random))
        self._rings: WaitingUrls[float] = WaitingUrls()
        self._waiting: Counter[str] = Counter()  # number of waiting URLs by host
        self._now = 0.0
        self._host_now: dict[str, float] = {}

    def score(self, page: Page, link: Link) -> float:
        rings = self._rings.get(link.url)
        if rings is None:
            host = host_of(link.url)
            rings = self._time_on(host, is_own=host == host_of(page.url)) + self._draw(link.url)
            self._wait(link.url, rings)
        return -rings

    def seed_score(self, url: str) -> float:
        return self._draw(url)

    def observe(self, page: Page) -> None:
        self.failed(page.url)

    def redirected(self, url: str, target: str) -> None:
        rings = self._rings.get(url)
        self.failed(url)
        if rings is not None and self._rings.get(target) is None:
            self._wait(target, rings)

    def failed(self, url: str) -> None:
        rings = self._rings.end(url)
        if rings is None:
            return
        host = host_of(url)
        self._now = max(self._now, min(rings, self._now + _UNLIKELY / (len(self._rings) + 1)))
        self._host_now[host] = rings
        self._waiting[host] -= 1

    def refused(self, url: str) -> None:
        """No time passes."""
        if self._rings.end(url) is not None:
            self._waiting[host_of(url)] -= 1

    def _wait(self, url: str, rings: float) -> None:
        if self._rings.has_ended(url):
            return
        forgotten = self._rings.put(url, rings)
        self._waiting[host_of(url)] += 1
        if forgotten:
            self._waiting[host_of(forgotten[0])] -= 1

    def _time_on(self, host: str, *, is_own: bool) -> float:
        """The current time of the waiting URLs of ``host``; ``is_own``: a page of this host was just fetched."""
        time = self._host_now.get(host)
        if time is None:
            return self._now
        is_late = (self._now - time) * self._waiting[host] > _UNLIKELY
        return time if is_own or is_late else max(time, self._now)


class NearRoot(BaseOrdering):
    """Minus the number of links from the root of the host, on the shortest known path (Baeza-Yates and Castillo 2004).

    The root, a path of ``/``, has distance 0; a link within a host leads one farther than its page. Where the crawl enters a
    host, by a seed or a link from another host, the number of path segments of the URL is its distance.
    """

    learns = True

    def __init__(self, context: OrderingContext) -> None:
        super().__init__(context)
        self._distances: WaitingUrls[int] = WaitingUrls()
        self._page, self._distance = "", 0

    def score(self, page: Page, link: Link) -> float:
        distance = _folders(link.url)
        if distance and host_of(link.url) == host_of(page.url):
            distance = self._distance_of(page) + 1
        known = self._distances.get(link.url)
        distance = distance if known is None else min(known, distance)
        if not self._distances.has_ended(link.url):
            self._distances.put(link.url, distance)
        return float(-distance)

    def observe(self, page: Page) -> None:
        self._distance_of(page)

    def redirected(self, url: str, target: str) -> None:
        self._distances.move(url, target)

    def failed(self, url: str) -> None:
        self._distances.end(url)

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        return {} if url.parent is None else {"distance": url.score}

    def _distance_of(self, page: Page) -> int:
        if page.url != self._page:
            known = self._distances.end(page.url)
            self._page, self._distance = page.url, _folders(page.url) if known is None else known
        return self._distance


class Location(BaseOrdering):
    """``IL(P)``: 1 for a suffix, 1 for a substring, and more for a shallower path.

    ``suffixes`` and ``substrings`` are separated by commas; case does not matter. The defaults are the paper's examples,
    ".com" and "home"; an empty string turns a part off. A suffix may end the host name or the URL. The third part is
    ``1 / slashes``, with the slashes of the path: 1 for the root of a host.
    """

    def __init__(self, context: OrderingContext, *, suffixes: str = ".com", substrings: str = "home") -> None:
        super().__init__(context)
        self.suffixes = suffixes
        self.substrings = substrings
        self._suffixes = tuple(filter(None, map(str.strip, suffixes.lower().split(","))))
        self._substrings = tuple(filter(None, map(str.strip, substrings.lower().split(","))))

    def score(self, page: Page, link: Link) -> float:
        return sum(self._parts(link.url).values())

    def seed_score(self, url: str) -> float:
        return 3.0

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        if url.parent is None:
            return {}
        parts = self._parts(url.url)
        return dict(sorted(((name, part) for name, part in parts.items() if part), key=lambda item: -item[1]))

    def _parts(self, url: str) -> dict[str, float]:
        spelling = url.lower()
        return {
            "suffix": float(host_of(url).endswith(self._suffixes) or spelling.rstrip("/").endswith(self._suffixes)),
            "substring": float(any(substring in spelling for substring in self._substrings)),
            "few slashes": 1 / (url.partition("?")[0].count("/") - 2),
        }


def _folders(url: str) -> int:
    """The number of segments of the path; 0 for the root of a host."""
    rest = url.split("/", 3)[3:]
    return rest[0].partition("?")[0].strip("/").count("/") + 1 if rest and rest[0] else 0
