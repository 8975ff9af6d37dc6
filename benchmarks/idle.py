"""How busy a polite crawl is: the share of the ideal rate that it reaches on honest webs.

    python benchmarks/idle.py [--seconds 60] [--webs NAME ...] [--orderings NAME ...] [--json FILE]

Each web is served on loopback and crawled for so many seconds with the settings as people run them, the budget of pages left out.
A host answers after ``answer`` seconds and then rests for ``POLITENESS_MIN_DELAY``, so ``hosts / (answer + rest)`` fetches a
second are ideal, and no more than ``CONCURRENT_REQUESTS / answer``; a slow fetch takes its place for 3 s only. The fetches of
robots.txt count: they are visits too. Half of the links of ``domain`` are forbidden by robots.txt, as on a university's hosts.

The webs are honest: every page has a text of its own, and every page links to pages that exist.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/idle.py`

from benchmarks.endless import TOPIC, vocabulary
from crawlproject.adapters.leases import SLOW, SLOW_BESIDE
from crawlproject.http.virtual_web_server import AccessLog, read_log, running
from crawlproject.records import Reply
from crawlproject.settings import CONCURRENT_REQUESTS
from crawlproject.webs.base import not_held

ROOT = Path(__file__).resolve().parent.parent
PAGES = 400  # of a host
FRONT = 20  # pages of a host that every page links to some of, as menus do
LINKS = 20
HTML = {"content-type": "text/html; charset=utf-8"}


@dataclass(frozen=True)
class HonestWeb:
    """``hosts`` hosts below ``domain``, or each with a domain of its own, that answer after ``answer`` seconds.

    ``forbidden`` is the share of links that robots.txt forbids; ``rest`` the seconds between visits that the crawl keeps.
    """

    hosts: int
    domain: str = ""
    answer: float = 0.0
    forbidden: float = 0.0
    rest: float = 1.0

    warnings: Sequence[str] = ()

    def host(self, number: int) -> str:
        return f"http://h{number}.{self.domain}" if self.domain else f"http://www.honest{number}.example"

    @property
    def seeds(self) -> list[str]:
        return [f"{self.host(number)}/" for number in range(min(self.hosts, 40))]

    @property
    def ideal(self) -> float:
        """Fetches a second of a crawl that never lets a host wait for longer than it has to."""
        polite = self.hosts / (self.answer + self.rest)
        if not self.answer:
            return polite
        most = CONCURRENT_REQUESTS * (1 + SLOW_BESIDE) / self.answer
        return min(polite, CONCURRENT_REQUESTS / min(self.answer, SLOW), most)

    def get(self, url: str) -> Reply:
        if url.endswith("/robots.txt"):
            return Reply(url, 200, {"content-type": "text/plain"}, b"User-agent: *\nDisallow: /private/\n", self.answer)
        if "honest" not in url and (not self.domain or self.domain not in url):
            return not_held(url)
        return Reply(url, 200, HTML, _body(self, url), self.answer)

    def urls(self) -> Iterator[str]:
        return iter(self.seeds)

    def __contains__(self, url: str) -> bool:
        return self.get(url).status == 200

    def close(self) -> None:
        """Nothing is held open."""


WEBS = {
    "domain": HonestWeb(40, domain="university.example", forbidden=0.5, rest=0.5),
    "five": HonestWeb(5),
    "one": HonestWeb(1, rest=0.2),
    "slow": HonestWeb(1_000, answer=5.0, rest=5.0),
}


@lru_cache(maxsize=50_000)
def _body(web: HonestWeb, url: str) -> bytes:
    random = Random(blake2b(url.encode(), digest_size=8).digest())
    words = _words()
    parts = [f"<!doctype html><title>{' '.join(random.choices(words, k=4))}</title><h1>{random.choice(words)}</h1>"]
    for _ in range(LINKS):
        folder = "private" if random.random() < web.forbidden else words[0]
        number = random.randrange(FRONT if random.random() < 0.6 else PAGES)
        target = f"{web.host(random.randrange(web.hosts))}/{folder}/{words[number]}"
        text = " ".join([*random.choices(words, k=25), random.choice(TOPIC)])
        parts.append(f'<p>{text} <a href="{target}">{" ".join(random.choices(words, k=3))}</a></p>')
    return "".join(parts).encode()


@lru_cache
def _words() -> list[str]:
    return vocabulary(5_000)


def measure(web: HonestWeb, ordering: str, seconds: float) -> dict[str, float]:
    """One crawl: ``fetches``, ``pages``, the ``rate`` a second, and its ``share`` of the ideal rate."""
    with tempfile.TemporaryDirectory() as name, AccessLog(Path(name, "log")) as log:
        topic = Path(name, "topic.toml")
        topic.write_text(f"keywords = {json.dumps(TOPIC[:3])}\nseeds = {json.dumps(web.seeds)}\n")
        with running(web, log=log, latency=True) as server:
            settings = {
                "CRAWL_DIR": Path(name, "crawl"),
                "CRAWL_MAX_SECONDS": seconds,
                "CRAWL_MAX_PAGES": 0,
                "POLITENESS_MIN_DELAY": web.rest,
                "CRAWL_PROGRESS_SECONDS": 0,
                **({"ORDERING": ordering} if ordering != "default" else {}),
            }
            chosen = [part for key, value in settings.items() for part in ("-s", f"{key}={value}")]
            command = [sys.executable, "-m", "scrapy", "crawl", "topical", "-a", f"topic={topic}", *chosen]
            environment = {**os.environ, "http_proxy": f"http://127.0.0.1:{server.port}"}
            subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
        times = sorted(access["end"] for access in read_log(Path(name, "log")))
        history = Path(name, "crawl", "history.jsonl").read_text().splitlines()
    lasted = min(seconds, times[-1] - times[0])
    rate = sum(at <= times[0] + seconds for at in times) / max(lasted, 1e-9)
    pages = sum(bool(json.loads(line)["md5"]) for line in history)
    return {"fetches": len(times), "pages": pages, "rate": rate, "share": rate / web.ideal}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="of each crawl (default: 60)")
    parser.add_argument("--webs", nargs="+", default=list(WEBS), choices=list(WEBS))
    parser.add_argument("--orderings", nargs="+", default=["default", "dom"])
    parser.add_argument("--json", type=Path, help="also write the figures here")
    chosen = parser.parse_args()
    found: list[dict[str, Any]] = []
    print(f"{'web':8} {'ordering':10} {'fetches':>8} {'pages':>7} {'fetches/s':>10} {'ideal':>7} {'share':>6}")
    for name in chosen.webs:
        for ordering in chosen.orderings:
            row = measure(WEBS[name], ordering, chosen.seconds)
            found.append({"web": name, "ordering": ordering, **row})
            print(
                f"{name:8} {ordering:10} {row['fetches']:8.0f} {row['pages']:7.0f} {row['rate']:10.2f} "
                f"{WEBS[name].ideal:7.2f} {row['share']:6.2f}",
                flush=True,
            )
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
