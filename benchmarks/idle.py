"""How busy a polite crawl is: the share of the ideal rate that it reaches on honest webs.

    python benchmarks/idle.py [--seconds 60] [--webs NAME ...] [--orderings NAME ...] [--tree FOLDER] [--json FILE]

Each web is served on loopback and crawled for ``--seconds`` with the default settings, but without a budget of pages. A host
answers after ``answer`` seconds and then rests for ``POLITENESS_MIN_DELAY``. The ideal rate is therefore
``hosts / (answer + rest)`` fetches a second, and at most ``CONCURRENT_REQUESTS / answer``; a slow fetch occupies its slot for
3 s only. Fetches of robots.txt count as visits. On ``domain``, robots.txt forbids half of the links, as on university hosts.

The webs are honest: every page has a unique text and links to pages that exist. The webs of ``idle_webs`` have natural
text: 40 hosts of one domain with 5 and with 100 forbidden links a page; wikis of ten hosts and of one, whose pages link to
their edit, history, diff, login and reply pages, which robots.txt forbids, which are nearly empty, or which are refused; one
host of 3,000 pages; 500 hosts behind ten addresses (the ideal rate counts the addresses). One web is not honest: in
``swarm``, the pages of ten honest hosts also link to a domain with endless names. *Useful* is the share of the fetches,
robots.txt aside, that returned a page of an honest host with a unique text; *honest* is the rate of these as a share of the
ideal rate; *stored* is the share of these pages that the crawler read and did not take for copies.

The web with ten addresses needs a network namespace (Linux, ``unshare`` and ``ip``): there /etc/hosts holds the names and the
server listens at each address, without a proxy. ``--tree`` crawls with the code in another folder, for comparison.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/idle.py`

from benchmarks.endless import TOPIC, vocabulary
from benchmarks.idle_webs import NATURAL, NETWORK, Sites
from crawlproject.adapters.leases import SLOW, SLOW_BESIDE
from crawlproject.http.virtual_web_server import LOOPBACK, AccessLog, read_log, running
from crawlproject.records import Reply
from crawlproject.settings import CONCURRENT_REQUESTS
from crawlproject.webs.base import not_held

ROOT = Path(__file__).resolve().parent.parent
PAGES = 400  # of a host
FRONT = 20  # pages of a host that get most links, as pages in a menu do
LINKS = 20
HTML = {"content-type": "text/html; charset=utf-8"}


@dataclass(frozen=True)
class HonestWeb:
    """``hosts`` hosts below ``domain``, or each with its own domain, that answer after ``answer`` seconds.

    ``forbidden`` is the share of links that robots.txt forbids; ``rest`` the seconds that the crawl leaves between visits.
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
        """Fetches a second of a crawl that never lets a host wait longer than necessary."""
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
        """Do nothing: no resource is held open."""


WEBS: dict[str, HonestWeb | Sites] = {
    "domain": HonestWeb(40, domain="university.example", forbidden=0.5, rest=0.5),
    "five": HonestWeb(5),
    "one": HonestWeb(1, rest=0.2),
    "slow": HonestWeb(1_000, answer=5.0, rest=5.0),
    **NATURAL,
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


def measure(name: str, ordering: str, seconds: float, tree: Path) -> dict[str, float]:
    """The figures of one crawl of ``WEBS[name]`` by the code in ``tree``."""
    if not _addresses(WEBS[name]):
        return crawl(WEBS[name], ordering, seconds, tree)
    alone = ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), "--net", "--mount"]
    inside = [sys.executable, __file__, "--inside", "--webs", name, "--orderings", ordering, "--seconds", str(seconds)]
    done = subprocess.run([*alone, *inside, "--tree", str(tree)], check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def crawl(web: HonestWeb | Sites, ordering: str, seconds: float, tree: Path) -> dict[str, float]:
    """``fetches``, ``pages``, the ``rate`` a second, its ``share`` of the ideal rate, ``useful``, ``honest`` and ``stored``."""
    with tempfile.TemporaryDirectory() as name, AccessLog(Path(name, "log")) as log:
        topic = Path(name, "topic.toml")
        topic.write_text(f"keywords = {json.dumps(TOPIC[:3])}\nseeds = {json.dumps(web.seeds)}\n")
        open_to, port = ("0.0.0.0", 80) if _addresses(web) else (LOOPBACK, 0)
        with running(web, port, address=open_to, log=log, latency=True) as server:
            settings = {
                "CRAWL_DIR": Path(name, "crawl"),
                "CRAWL_MAX_SECONDS": seconds,
                "CRAWL_MAX_PAGES": 0,
                "POLITENESS_MIN_DELAY": web.rest,
                "CRAWL_PROGRESS_SECONDS": 0,
                **({"CRAWL_ALLOWED_ADDRESSES": f"{NETWORK}.0/24"} if _addresses(web) else {}),
                **({"ORDERING": ordering} if ordering != "default" else {}),
            }
            chosen = [part for key, value in settings.items() for part in ("-s", f"{key}={value}")]
            command = [sys.executable, "-m", "scrapy", "crawl", "topical", "-a", f"topic={topic}", *chosen]
            proxy = {} if _addresses(web) else {"http_proxy": f"http://127.0.0.1:{server.port}"}
            subprocess.run(command, cwd=tree, env={**os.environ, **proxy}, check=True, capture_output=True)
        accesses = sorted(read_log(Path(name, "log")), key=lambda access: float(access["end"]))
        history = [json.loads(line) for line in Path(name, "crawl", "history.jsonl").read_text().splitlines()]
    times = [access["end"] for access in accesses]
    lasted = min(
        seconds, max(times[-1] - times[0], 0.95 * seconds)
    )  # no web is exhausted by then, so a crawl that ends early counts as idle
    rate = sum(at <= times[0] + seconds for at in times) / max(lasted, 1e-9)
    asked = [access["url"] for access in accesses if not access["url"].endswith("/robots.txt")]
    useful = [url for url in asked if _is_useful(web, url)]
    stored = sum(bool(line["md5"]) and not line["duplicate_of"] and _is_useful(web, line["url"]) for line in history)
    return {
        "fetches": len(times),
        "pages": sum(bool(line["md5"]) for line in history),
        "rate": rate,
        "share": rate / web.ideal,
        "useful": len(useful) / max(1, len(asked)),
        "honest": len(useful) / max(lasted, 1e-9) / web.ideal,
        "stored": stored / max(1, len(useful)),
    }


def _is_useful(web: HonestWeb | Sites, url: str) -> bool:
    return not isinstance(web, Sites) or web.is_useful(url)


def _addresses(web: HonestWeb | Sites) -> Mapping[str, str]:
    return web.addresses if isinstance(web, Sites) else {}


def enter(web: Sites) -> None:
    """Give this private network namespace the addresses of ``web``, and its /etc/hosts the names."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for address in sorted(set(web.addresses.values())):
        subprocess.run(["ip", "address", "add", f"{address}/32", "dev", "lo"], check=True)
    with tempfile.NamedTemporaryFile("w", suffix=".hosts") as names:
        names.write("127.0.0.1 localhost\n" + "".join(f"{at} {host}\n" for host, at in web.addresses.items()))
        names.flush()
        subprocess.run(["mount", "--bind", names.name, "/etc/hosts"], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="of each crawl (default: 60)")
    parser.add_argument("--webs", nargs="+", default=list(WEBS), choices=list(WEBS))
    parser.add_argument("--orderings", nargs="+", default=["default", "dom"])
    parser.add_argument("--tree", type=Path, default=ROOT, help="folder of the code that crawls (default: this one)")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.inside:
        web = WEBS[chosen.webs[0]]
        assert isinstance(web, Sites)
        enter(web)
        print(json.dumps(crawl(web, chosen.orderings[0], chosen.seconds, chosen.tree)))
        return
    found: list[dict[str, Any]] = []
    columns = f"{'fetches':>8} {'pages':>7} {'fetches/s':>10} {'ideal':>7} {'share':>6} {'useful':>7} {'honest':>7} {'stored':>7}"
    print(f"{'web':16} {'ordering':10} {columns}")
    for name in chosen.webs:
        for ordering in chosen.orderings:
            row = measure(name, ordering, chosen.seconds, chosen.tree.resolve())
            found.append({"web": name, "ordering": ordering, **row})
            print(
                f"{name:16} {ordering:10} {row['fetches']:8.0f} {row['pages']:7.0f} {row['rate']:10.2f} "
                f"{WEBS[name].ideal:7.2f} {row['share']:6.2f} {row['useful']:7.2f} {row['honest']:7.2f} {row['stored']:7.2f}",
                flush=True,
            )
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
