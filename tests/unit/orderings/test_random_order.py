"""Every known URL is equally likely to be next (paper 002 section 5), at any time of the crawl."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from support.pages import a_context, a_link, a_page

from crawlproject.orderings.baselines import RandomOrder

TRIALS = 400


class Queue:
    """The waiting URLs by score; ``fetch`` takes the best one and passes its page to the ordering."""

    def __init__(self, seed: int) -> None:
        self.ordering = RandomOrder(a_context(seed=seed))
        self.scores: dict[str, float] = {}
        self.find("http://seed.example/", [])

    def find(self, source: str, targets: Sequence[str]) -> None:
        page = a_page(source, links=[a_link(url) for url in targets])
        self.ordering.observe(page)
        for link in page.links:
            self.scores[link.url] = max(self.scores.get(link.url, -1e9), self.ordering.score(page, link))

    def next(self, prefix: str = "") -> str:
        return max((url for url in self.scores if url.startswith(prefix)), key=self.scores.__getitem__)

    def fetch(self, targets: Sequence[str] = (), prefix: str = "") -> None:
        url = self.next(prefix)
        del self.scores[url]
        self.find(url, targets)


def same_host(name: str) -> Callable[[int], str]:
    return lambda number: f"http://a.example/{name}{number}"


def own_hosts(name: str) -> Callable[[int], str]:
    return lambda number: f"http://{name}{number}.example/"


@pytest.mark.parametrize("urls", [same_host, own_hosts])
def test_of_50_old_and_50_new_urls_an_old_one_is_next_half_of_the_time(urls: Callable[[str], Callable]) -> None:
    old = 0
    for seed in range(TRIALS):
        queue = Queue(seed)
        queue.find("http://list.example/", [urls("old")(number) for number in range(100)])
        for _ in range(49):
            queue.fetch()
        queue.fetch([urls("new")(number) for number in range(50)])
        old += "old" in queue.next()
    assert old / TRIALS == pytest.approx(0.5, abs=0.1)  # 4 standard deviations


def test_a_url_that_many_pages_link_to_is_no_likelier() -> None:
    popular = 0
    for seed in range(TRIALS):
        queue = Queue(seed)
        queue.find("http://list.example/", ["http://popular.example/", "http://x.example/", "http://y.example/"])
        for number in range(20):
            queue.find(f"http://other{number}.example/", ["http://popular.example/"])
        popular += "popular" in queue.next()
    assert popular / TRIALS == pytest.approx(1 / 3, abs=0.1)


@pytest.mark.parametrize("crowd", [4, 400])
def test_each_host_in_turn_its_old_and_new_urls_are_equally_likely(crowd: int) -> None:
    """Host rotation delays large hosts and favours small ones: neither may favour URLs that were found first or last."""
    new = 0
    for seed in range(TRIALS):
        queue = Queue(seed)
        hosts = [f"http://h{number}.example/" for number in range(6)]
        queue.find("http://list.example/", [f"{host}{page}" for host in hosts[:5] for page in range(40)])
        queue.find("http://list.example/2", [f"{hosts[5]}{page}" for page in range(crowd + 3)])
        for _ in range(3):
            for host in hosts:
                queue.fetch(prefix=host)
        queue.fetch([f"{hosts[5]}new{page}" for page in range(crowd)], prefix=hosts[0])  # a page of another host
        new += "new" in queue.next(hosts[5])
    assert new / TRIALS == pytest.approx(0.5, abs=0.12)


def test_a_redirect_hands_its_turn_over() -> None:
    queue = Queue(1)
    queue.find("http://list.example/", ["http://a.example/", "http://b.example/"])
    first = queue.next()
    queue.ordering.redirected(first, "http://target.example/")
    page = a_page("http://other.example/", links=[a_link("http://target.example/")])
    assert queue.ordering.score(page, page.links[0]) == queue.scores[first]


def test_what_is_refused_takes_no_time() -> None:
    one, other = Queue(1), Queue(1)
    for queue in (one, other):
        queue.find("http://list.example/", ["http://a.example/", "http://b.example/"])
    one.ordering.refused(one.next())
    for queue in (one, other):
        queue.find("http://list.example/2", ["http://c.example/"])
    assert one.scores == other.scores
