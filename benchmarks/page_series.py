"""Feeds and page series on generated sites with known contents: what is found, in what order, and what is wasted.

    python benchmarks/page_series.py [--pages 60]

Four sites are crawled for ``--pages`` pages each: without these settings (control), with ``CRAWL_FEEDS=2`` and
``CRAWL_SERIES=40``, and with ``TRAP_REDUNDANT`` as well:

- *feed*: a blog whose posts are linked from its feed only, 40 posts over two files of the feed;
- *story*: 12 articles of 4 parts; each part links to all parts, and to other articles that are off the topic;
- *listing*: 120 items on 12 result pages, each with links to four sort orders of the page, which show the same items;
- *forum*: 10 threads of 3 pages with 5 posts each; each post has a link to reply, to print, and to the post alone.

*Wasted* are fetches of sort orders, replies, print versions and single posts: pages that show nothing new.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/page_series.py`

from crawlproject.exporting.units import series_of
from crawlproject.storage.read import read_visits

HOSTS = ("feed", "story", "listing", "forum")
LENGTHS = {"feed": 1, "story": 4, "listing": 12, "forum": 3}  # pages of a series
OFF_TOPIC = "gardening tools"


def words_of(number: int) -> str:
    """Words that are unique to ``number``."""
    return " ".join(
        "".join(chr(97 + (number * prime >> shift) % 26) for shift in (0, 2, 4, 7)) for prime in (7, 31, 101)
    )


def prose(number: int) -> str:
    return "coral reef " + " ".join(words_of(10_007 * number + k) for k in range(12))


class Sites:
    """The pages by host and path, and the kind of each."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.kinds: dict[str, str] = {}
        self._feed()
        self._story()
        self._listing()
        self._forum()

    def page(self, url: str, kind: str, words: str, *links: str, head: str = "") -> None:
        body = f"<p>{words}</p>" + "".join(f"<p>{link}</p>" for link in links)
        self.files[url] = (
            f"<!doctype html><html><head><title>{kind}</title>{head}</head><body class=x>{body}</body></html>"
        )
        self.kinds[f"http://{url.removesuffix('index.html')}"] = kind

    def _feed(self) -> None:
        posts = [f"feed.example/post-about-{n}-things" for n in range(40)]
        for number, url in enumerate(posts):
            self.page(url, "post", prose(number))
        head = '<link rel="alternate" type="application/atom+xml" href="/atom">'
        self.page("feed.example/index.html", "front", "coral reef blog", head=head)
        for name, older, own in (("atom", "older.atom", posts[:20]), ("older.atom", "", posts[20:])):
            entries = "".join(f"<entry><title>Coral reef</title><link href='http://{url}'/></entry>" for url in own)
            following = f"<link rel='next' href='/{older}'/>" if older else ""
            self.files[f"feed.example/{name}"] = (
                f"<feed xmlns='http://www.w3.org/2005/Atom'>{following}{entries}</feed>"
            )

    def _story(self) -> None:
        starts = [f"<a href='/a{n}/'>coral reef story {n}</a>" for n in range(12)]
        self.page("story.example/index.html", "front", "coral reef stories", *starts)
        for n in range(12):
            names = [f"/a{n}/", *(f"/a{n}/{part}/" for part in (2, 3, 4))]
            row = " ".join(f"<a href='{name}'>{part}</a>" for part, name in enumerate(names, start=1))
            for part, name in enumerate(names, start=1):
                following = f"<a href='{names[part]}'>Next page</a>" if part < 4 else ""
                others = [f"<a href='/other/{n}-{part}-{k}'>{OFF_TOPIC}, coral prices</a>" for k in range(3)]
                self.page(f"story.example{name}index.html", "part", prose(100 * n + part), row, following, *others)
                for k in range(3):
                    self.page(f"story.example/other/{n}-{part}-{k}", "other", f"{OFF_TOPIC} {n} {part} {k}")

    def _listing(self) -> None:
        self.page(
            "listing.example/index.html", "front", "coral reef list", "<a href='/list?page=1'>coral reef results</a>"
        )
        for number in range(1, 13):
            items = [f"<a href='/item/{number}-{k}'>coral {words_of(10 * number + k)}</a>" for k in range(10)]
            orders = [f"<a href='/list?page={number}&sort={order}'>coral by {order}</a>" for order in "abcd"]
            following = f"<a href='/list?page={number + 1}'>Next »</a>" if number < 12 else ""
            for url, kind in (
                (f"list?page={number}", "list"),
                *((f"list?page={number}&sort={o}", "wasted") for o in "abcd"),
            ):
                self.page(f"listing.example/{url}", kind, f"coral reef results {number}", *items, *orders, following)
            for k in range(10):
                self.page(f"listing.example/item/{number}-{k}", "item", prose(100 * number + k))

    def _forum(self) -> None:
        threads = [f"<a href='/thread/{n}'>coral thread {n}</a>" for n in range(10)]
        self.page("forum.example/index.html", "front", "coral reef forum", *threads)
        for n in range(10):
            for number in (1, 2, 3):
                links, posts = [], []
                for k in range(5):
                    name = f"{n}-{number}-{k}"
                    text = prose(1_000 * n + 100 * number + k)
                    posts.append(text)
                    for kind in ("reply", "print", "post"):
                        links.append(f"<a href='/{kind}/{name}'>coral {kind}</a>")
                        self.page(
                            f"forum.example/{kind}/{name}",
                            "wasted",
                            text if kind != "reply" else "coral: log in to reply",
                        )
                following = f"<a href='/thread/{n}?page={number + 1}'>Next</a>" if number < 3 else ""
                name = f"thread/{n}" if number == 1 else f"thread/{n}?page={number}"
                self.page(f"forum.example/{name}", "thread", " ".join(posts), *links, following)


def crawl(web: Path, folder: Path, host: str, pages: int, **settings: object) -> None:
    topic = folder.with_suffix(".toml")
    topic.write_text(f'name = "{folder.name}"\nkeywords = ["coral reef"]\nseeds = ["http://{host}.example/"]\n')
    chosen = {
        "VIRTUAL_WEB": web, "CRAWL_DIR": folder, "CRAWL_MAX_PAGES": pages, "POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0,
        "CRAWL_PROGRESS_SECONDS": 0, **settings,
    }  # fmt: skip
    given = [part for name, value in chosen.items() for part in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "crawl", "topical", "-a", f"topic={topic}", *given]
    subprocess.run(
        command, check=True, env=os.environ, cwd=Path(__file__).resolve().parents[1], stdout=subprocess.DEVNULL
    )


def settings_of() -> tuple[tuple[str, dict[str, object]], ...]:
    series: dict[str, object] = {"CRAWL_FEEDS": 2, "CRAWL_SERIES": 40}
    return (
        ("neither", {"TRAP_REDUNDANT": "never"}),
        ("series", {**series, "TRAP_REDUNDANT": "never"}),
        ("and learned", series),
    )


def in_order(urls: list[str], crawl_dir: Path, length: int) -> tuple[int, int]:
    """The number of series of ``length`` pages that were joined whole, and of those fetched without interruption."""
    at = {url: number for number, url in enumerate(urls)}
    runs = [[first, *rest] for first, rest in series_of(crawl_dir).items()]
    whole = [run for run in runs if len(run) == length and all(url in at for url in run)]
    return len(whole), sum(at[run[-1]] - at[run[0]] == len(run) - 1 for run in whole)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=60)
    pages = parser.parse_args().pages
    sites = Sites()
    print(
        "| site | | pages | of them content | wasted | series whole | without a break |\n"
        "| --- | --- | --- | --- | --- | --- | --- |"
    )
    with tempfile.TemporaryDirectory() as place:
        web = Path(place) / "web"
        for url, text in sites.files.items():
            path = web / url
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for host in HOSTS:
            for name, settings in settings_of():
                folder = Path(place) / f"{host}-{name.replace(chr(32), chr(45))}"
                crawl(web, folder, host, pages, **settings)
                urls = [visit.url for visit in read_visits(folder) if visit.md5]
                kinds = Counter(sites.kinds.get(url, "other") for url in urls)
                content = sum(kinds[kind] for kind in ("post", "part", "item", "list", "thread"))
                whole, unbroken = in_order(urls, folder, LENGTHS[host])
                print(
                    f"| {host} | {name} | {len(urls)} | {content} | {kinds['wasted']} | {whole} | {unbroken} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
