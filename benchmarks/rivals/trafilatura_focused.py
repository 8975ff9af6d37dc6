"""trafilatura's focused crawler, one site a seed.

The crawler stays on a site, below the folder of its first page. So every seed is a site; the sites take turns of ten
visits, the crawler's own default, and the budget that one site leaves unused goes to the others. Each turn resumes with
the pages to visit that the last turn left. A site that is exhausted below its seed continues from the home page of the
host. Pauses are off, and robots.txt is read once a site.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

from benchmarks.rivals.joblog import PageLog, read_job

TURN = 10  # visits


def starting_points(seeds: Iterable[str]) -> list[list[str]]:
    """For each host, in the order of its first seed: its seeds, then its home page."""
    hosts: dict[str, list[str]] = {}
    for seed in seeds:
        parts = urlsplit(seed)
        hosts.setdefault(f"{parts.scheme}://{parts.netloc}/", []).append(seed)
    return [list(dict.fromkeys([*starts, home])) for home, starts in hosts.items()]


def take_turns(sites: Iterable[Iterator[Any]]) -> None:
    """Advance the iterators in turns until all have ended."""
    waiting = deque(sites)
    while waiting:
        site = waiting.popleft()
        if next(site, None) is not None:
            waiting.append(site)


def crawl_site(starts: Iterable[str], rules: RobotFileParser, visit: Callable[..., Any]) -> Iterator[int]:
    """The turns of one site; each yields the number of waiting pages. ``visit`` is ``focused_crawler`` with all else set.

    The crawler's store of URLs lives as long as the process. So passing one page to visit is enough to mark a turn as a
    continuation; passing all waiting and all known pages again would be slow.
    """
    for start in starts:
        left: tuple[list[str], list[str]] = ([], [])
        while True:
            before = left
            left = visit(start, TURN, todo=left[0][:1] or None, rules=rules)
            yield len(left[0])
            if not left[0] or left == before:
                break


def main() -> None:
    import urllib3
    from trafilatura import downloads, spider
    from trafilatura.settings import DEFAULT_CONFIG

    job = read_job(sys.argv[1])
    log = PageLog(Path(job["log"]))
    fetch = spider.fetch_response

    def noted(url: str, **options: Any) -> Any:
        response = fetch(url, **options)
        if response is not None and response.status == 200:
            log.note(response.url)
        return response

    config = deepcopy(DEFAULT_CONFIG)
    config["DEFAULT"].update(SLEEP_TIME="0", SSRF_PROTECTION="no")  # else it would refuse the proxy on loopback
    # It supports SOCKS proxies only: an HTTP proxy has to replace its connection pool.
    downloads.HAS_PYCURL, downloads.PROXY_URL = False, None
    downloads.HTTP_POOL = downloads.NO_CERT_POOL = urllib3.ProxyManager(job["proxy"])
    spider.fetch_response = noted
    spider.sleep = lambda seconds: None

    def visit(start: str, turn: int, **options: Any) -> tuple[list[str], list[str]]:
        return spider.focused_crawler(start, max_seen_urls=turn, config=config, **options)

    def site(starts: list[str]) -> Iterator[int]:
        home = starts[-1].rstrip("/")
        rules = spider.get_rules(home, config) or spider.parse_robots(f"{home}/robots.txt", "")
        return crawl_site(starts, rules, visit)

    take_turns(site(starts) for starts in starting_points(job["seeds"]))


if __name__ == "__main__":
    main()
