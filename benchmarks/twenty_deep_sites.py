"""The twenty sites of the deep web benchmark, and a web that combines sites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from urllib.parse import urlsplit

from benchmarks.deep_web_sites import HTML, PAGINGS, DeepSite, Kind
from crawlproject.records import Reply
from crawlproject.webs.base import not_held


class DeepWeb:
    """Several sites as one web; a page at ``ENTRANCE`` links to all of them."""

    ENTRANCE = "http://entrance.example/"
    warnings: Sequence[str] = ()

    def __init__(self, sites: Sequence[DeepSite]) -> None:
        self.sites = {site.host: site for site in sites}

    def get(self, url: str) -> Reply:
        if url == self.ENTRANCE:
            links = "".join(
                f"<p>Coral reef pages at <a href='{site.home}'>{site.host}</a></p>" for site in self.sites.values()
            )
            return Reply(url, 200, HTML, f"<!doctype html><title>Coral reef links</title>{links}".encode())
        site = self.sites.get(urlsplit(url).hostname or "")
        return site.get(url) if site else not_held(url)

    def urls(self) -> Iterator[str]:
        yield self.ENTRANCE
        for site in self.sites.values():
            yield site.home

    def __contains__(self, url: str) -> bool:
        return self.get(url).status != 404

    def close(self) -> None:
        return None

    def no_queries(self) -> Counter[str]:
        """Requests to forms that are not queries, by host and path."""
        return Counter(
            {f"{site.host}{path}": count for site in self.sites.values() for path, count in site.asked.items()}
        )


def twenty_sites(scale: float = 1.0, seed: int = 0, *, posts: bool = False) -> list[DeepSite]:
    """The sites of the benchmark; ``scale`` multiplies their sizes.

    With a ``seed`` they have other items, sizes (by 0.5 to 1.5), shares on the topic, caps and styles of paging. ``posts``:
    the same sites with forms that are sent by POST.
    """
    # kind, items, share on the topic, most results of a query, whether attributes follow from each other
    plan: list[tuple[Kind, int, float, int, bool]] = [
        ("search", 100, 0.3, 0, False),
        ("search", 300, 0.9, 0, False),
        ("search", 1_000, 0.3, 0, False),
        ("search", 3_000, 0.1, 200, False),
        ("search", 10_000, 0.3, 200, False),
        ("search", 50_000, 0.05, 500, False),
        ("advanced", 500, 0.3, 0, False),
        ("advanced", 2_000, 0.3, 100, False),
        ("advanced", 8_000, 0.1, 200, False),
        ("advanced", 20_000, 0.3, 200, False),
        ("books", 400, 0.3, 0, True),
        ("books", 4_000, 0.3, 100, True),
        ("books", 15_000, 0.1, 200, True),
        ("listing", 200, 0.5, 0, False),
        ("listing", 1_500, 0.5, 100, False),
        ("listing", 6_000, 0.5, 200, False),
        ("lies", 500, 0.3, 0, False),
        ("silent", 100, 0.3, 0, False),
        ("members", 100, 0.3, 0, False),
        ("search", 2_000, 0.0, 0, False),
    ]
    if seed:
        rng, hosts = Random(f"plan {seed}"), f"-{seed}.example"
        plan = [
            (
                kind,
                round(size * rng.uniform(0.5, 1.5)),
                share * rng.uniform(0.6, 1.1),
                cap and rng.choice((50, 100, 200, 500)),
                pure,
            )
            for kind, size, share, cap, pure in plan
        ]
    return [
        DeepSite(
            f"{kind}{number}{hosts if seed else '.example'}",
            kind,
            max(50, round(size * scale)),
            share,
            cap,
            PAGINGS[(number + seed) % 3],
            pure,
            posts,
        )
        for number, (kind, size, share, cap, pure) in enumerate(plan, 1)
    ]
