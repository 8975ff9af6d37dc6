"""Crawls real server software as it is installed in practice, in its shipped configuration, on loopback under invented names.

    python benchmarks/real_sites.py [SITE ...] [--list] [--install] [--crawlers ours wget plain] [--fetches N] [--seconds N]
        [--folder DIR] [--json FILE] [-s NAME=VALUE]

We wrote all the other test webs; this software is by others. Sites come from packages of Debian, PyPI and npm: trees of
documentation behind nginx and Apache, repository browsers, wikis, blogs, forums, trackers and single-page applications.
Imported content is made from the documentation on this machine. A site that cannot be set up is skipped with a line that says
why; ``--install`` installs the Debian packages that it needs (as root; Debian may start their services).

Each site is crawled by one crawler after the other: ours with its default settings and no pause, ``wget -r``, and Scrapy's
CrawlSpider. All stay on the host. They are judged by the access log of the nginx in front of each site:

- *pages*: HTML responses, by URL as our crawler canonicalizes it, so that two spellings count as one page. *content*: what people
  visit the site for: articles, files, posts, but not histories, logins or feeds; counted once, however many URLs show it.
  *lacks*: content that the site is known to have and the crawl did not get.
- *last*: the number of the fetch that brought the last new content.
- *a fetch*: distinct content per request, at as many requests as all crawlers made, and at half as many.
- *copies*: share of the pages that have the same bytes as another page. *gap*: the longest pause between two requests.
- *ended*: whether the crawl ended on its own, before ``--fetches`` and ``--seconds``.

The table of a site is followed by the pages that others found and ours did not, by reason, with examples; ``--json`` has all
of them, and the output of ``scrapy why`` for some.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/real_sites.py`

from benchmarks.served_sites import front
from benchmarks.served_sites.comparison import Figures, Found, document, figures, found, left_out, missing
from benchmarks.served_sites.crawlers import CRAWLERS, Limit, crawl
from benchmarks.served_sites.packages import CannotBeHad, Packages
from benchmarks.served_sites.publications import PUBLICATIONS
from benchmarks.served_sites.repositories import REPOSITORIES
from benchmarks.served_sites.single_pages import SINGLE_PAGES
from benchmarks.served_sites.site import Place, Site
from benchmarks.served_sites.static_trees import TREES
from benchmarks.served_sites.wikis import WIKIS

SITES: dict[str, Site] = {site.name: site for site in (*TREES, *REPOSITORIES, *WIKIS, *PUBLICATIONS, *SINGLE_PAGES)}

_HEADING = (
    f"{'site':18} {'crawler':8} {'fetches':>8} {'pages':>7} {'content':>8} {'lacks':>6} {'last':>7} {'a fetch':>8} {'half':>6} "
    f"{'copies':>7} {'ended':>6} {'seconds':>8} {'gap':>6}"
)
_EXAMPLES = 3


def measure(site: Site, chosen: argparse.Namespace, packages: Packages) -> dict[str, Any]:
    """Serve and crawl one site; print and return what was found. Raises ``CannotBeHad``."""
    packages.need([*front.PACKAGES, *site.installed])
    folder = packages.folder / "sites" / site.name
    if not (folder / "prepared").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        with ExitStack() as stack:
            site.prepare(Place(folder, packages, stack))
        (folder / "prepared").touch()
    crawls = packages.folder / "crawls" / site.name
    limit = Limit(chosen.fetches, chosen.seconds)
    with ExitStack() as stack:
        place = Place(folder, packages, stack)
        nginx = stack.enter_context(front.in_front_of(site, place))
        results: list[Found] = []
        for name in chosen.crawlers:
            shutil.rmtree(crawls / name, ignore_errors=True)
            results.append(found(site, crawl(name, site, nginx, crawls / name, limit, chosen.settings)))
        lines = figures(site, place, results)
        for line in lines:
            print(_line(line), flush=True)
        absent = _absent(site, nginx, results)
    return {"figures": [document(line) for line in lines], **absent}


def _absent(site: Site, nginx: front.Front, results: Sequence[Found]) -> dict[str, Any]:
    """Print and return what our crawl misses compared to each of the others, and what it left out."""
    ours = next((result for result in results if result.run.crawler == "ours"), None)
    if ours is None:
        return {}
    compared: dict[str, Any] = {}
    for other in results:
        if other is ours:
            continue
        lacking = missing(site, nginx, ours, other)
        beyond = [key for key in ours.pages if key not in other.pages]
        compared[other.run.crawler] = {**lacking, "only_ours": beyond}
        _show(other, lacking, beyond)
    return {"missing": compared, "left_out": left_out(ours.run.folder / "crawl")}


def _show(other: Found, lacking: dict[str, Any], beyond: Sequence[str]) -> None:
    name, content = other.run.crawler, lacking["content"]
    print(f"    {name} has {len(lacking['copies'])} more pages with the bytes of one of ours")
    print(f"    {name} has {len(content)} pages with content that ours lacks{_examples(content)}")
    print(f"    {name} lacks {len(beyond)} pages of ours{_examples(beyond)}")
    for reason, urls in sorted(lacking["reasons"].items(), key=lambda item: -len(item[1])):
        print(f"    ours lacks {len(urls)} pages, {reason}{_examples(urls)}")


def _examples(urls: Sequence[str]) -> str:
    return "".join(f"\n        {url}" for url in urls[:_EXAMPLES])


def _line(line: Figures) -> str:
    ended = "yes" if line.ended else "no"
    return (
        f"{line.site:18} {line.crawler:8} {line.fetches:8} {line.pages:7} {line.content:8} {line.lacks:6} {line.last:7} "
        f"{line.rate:8.2f} {line.half_rate:6.2f} {line.copies:7.2f} {ended:>6} {line.seconds:8.1f} {line.gap:6.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sites", nargs="*", metavar="SITE", help="which ones (default: all)")
    parser.add_argument("--list", action="store_true", help="list the sites and what they need, and do nothing")
    parser.add_argument("--install", action="store_true", help="install Debian packages that are missing")
    parser.add_argument("--crawlers", nargs="+", default=list(CRAWLERS), choices=list(CRAWLERS))
    parser.add_argument("--fetches", type=int, default=20_000, help="of each crawl, at most (default: 20,000)")
    parser.add_argument("--seconds", type=float, default=600.0, help="of each crawl, at most (default: 600)")
    parser.add_argument("--folder", type=Path, help="for software, content and crawls; kept (default: a temporary one)")
    parser.add_argument("--json", type=Path, help="also write the figures and all missing pages here")
    parser.add_argument(
        "-s", dest="settings", action="append", default=[], metavar="NAME=VALUE", help="for our crawler"
    )
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the servers end too
    if unknown := set(chosen.sites) - SITES.keys():
        parser.error(f"no such site: {', '.join(sorted(unknown))}; --list lists them")
    if chosen.list:
        for site in SITES.values():
            print(f"{site.name:18} {' '.join([*site.unpacked, *site.installed, *site.python, *site.node])}")
        return
    with ExitStack() as stack:
        folder = chosen.folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="real-sites-")))
        packages = Packages(folder.resolve(), may_install=chosen.install)
        results: dict[str, Any] = {}
        print(_HEADING)
        for name in chosen.sites or SITES:
            try:
                results[name] = measure(SITES[name], chosen, packages)
            except CannotBeHad as absent:
                print(f"{name:18} skipped: {absent}", flush=True)
                results[name] = {"skipped": str(absent)}
            if chosen.json:
                chosen.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
