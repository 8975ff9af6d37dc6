"""The hostile web compared with the same web without its bad sites: what the bad sites cost a crawl.

    python benchmarks/hostile.py [--orderings NAME...] [--pages N] [--parts PART...] [--seed N] [--plain]
                                 [--seconds T...] [--json FILE] [-s NAME=VALUE]

A part is a group of kinds of bad sites (``first``, ``second``, ``third``, ``all``) or a comma-separated list of kinds; each
part is a separate web. Each crawl is a rehearsal of ``--pages`` pages (5,000) in its own process, and ``--plain`` is Scrapy's
own breadth-first crawl of the same web, without sockets. For each: recall of the targets on the good web and on the hostile
one, their ratio, the share of fetches that went to bad sites, the peak memory of the process on both webs, CPU time, recall
after each thousand pages, and the number of fetches of each kind of bad site.

With ``--seconds`` each crawl has a budget of the last of these times, 64 fetches at a time on the polite virtual clock,
instead of a budget of pages, and recall is measured after each of these times: what traps cost a crawl whose time is scarce.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/hostile.py`

from benchmarks.hostile_web import DEFAULT_SEED, GROUPS, KINDS, HostileWeb
from benchmarks.hostile_web.opening import open_hostile
from benchmarks.hostile_web.topic import topic_of
from benchmarks.measured_process import MeasuredProcess
from crawlproject.urls.hosts import host_of

ORDERINGS = ("dom", "best_first", "adaptive")
PLAIN = "scrapy"
_BATCH = 1000  # pages between two points of the curve


def main() -> None:
    chosen = _arguments()
    if chosen.child:
        print(json.dumps(_crawl(chosen.child[0], chosen.child[1], chosen)))
        return
    found = []
    for ordering in [*chosen.orderings, *([PLAIN] if chosen.plain else [])]:
        good = _measured(ordering, f"hostile:good@{chosen.seed}", chosen)
        for part in chosen.parts:
            bad = _measured(ordering, f"hostile:{part}@{chosen.seed}", chosen)
            found.append({"ordering": ordering, "part": part, "good": good, "hostile": bad, "share": _share(bad, good)})
            print(_line(found[-1]), flush=True)
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1))


def _share(bad: dict[str, Any], good: dict[str, Any]) -> float:
    return _ratio(bad["recall"], good["recall"])


def _ratio(bad: float, good: float) -> float:
    return round(bad / good, 3) if good else 0.0


def _line(row: dict[str, Any]) -> str:
    good, bad = row["good"], row["hostile"]
    kinds = ", ".join(f"{kind} {count}" for kind, count in bad["fetches_by_kind"].items())
    timed = "".join(
        f"             after {at} s {recall:.3f} -> {bad['timed'][at]:.3f} = {_ratio(bad['timed'][at], recall):.3f}\n"
        for at, recall in good["timed"].items()
    )
    return (
        f"{row['ordering']:12} {row['part']:8} recall {good['recall']:.3f} -> {bad['recall']:.3f} = {row['share']:.3f}  "
        f"bad fetches {bad['bad_share']:.2f}  memory {good['peak_mb']:.0f} -> {bad['peak_mb']:.0f} MB  "
        f"{good['cpu_ms']:.1f} -> {bad['cpu_ms']:.1f} ms a fetch\n{timed}"
        f"             {good['curve']} -> {bad['curve']}\n             {kinds}"
    )


def _measured(ordering: str, web: str, chosen: argparse.Namespace) -> dict[str, Any]:
    asked = [part for setting in chosen.set or [] for part in ("-s", setting)]
    command = [sys.executable, __file__, "--child", ordering, web, "--pages", str(chosen.pages), *asked]
    if chosen.seconds:
        command += ["--seconds", *map(str, chosen.seconds)]
    with TemporaryDirectory() as folder:
        errors = Path(folder) / "errors"
        process = MeasuredProcess(command, environment=os.environ, errors=errors)
        usage = process.wait()
        if usage.code:
            sys.exit(f"hostile.py: {ordering} on {web} failed:\n{errors.read_text()[-3000:]}")
    found: dict[str, Any] = json.loads(process.output.splitlines()[-1])
    return {**found, "peak_mb": usage.peak_mb, "cpu_ms": 1000 * usage.cpu_seconds / max(1, found["fetches"])}


# ------------------------------------------------------------ in a process of its own


Fetched = list[tuple[str, bool, float]]  # URL, whether it was a page, and the time of its arrival


def _crawl(ordering: str, web_name: str, chosen: argparse.Namespace) -> dict[str, Any]:
    web = open_hostile(web_name)
    settings = dict(part.split("=", 1) for part in chosen.set or [])
    with TemporaryDirectory() as folder:
        if ordering == PLAIN:
            fetched = _plain(web, chosen.pages)
        else:
            fetched = _rehearse(ordering, web, chosen.pages, chosen.seconds, Path(folder), settings)
    return _found(fetched, web, chosen.seconds)


def _found(fetched: Fetched, web: HostileWeb, seconds: Sequence[float]) -> dict[str, Any]:
    targets = set(topic_of(web).targets)
    hit, pages, curve = 0, 0, []
    kinds: Counter[str] = Counter()
    for url, is_page, _ in fetched:
        kind = web.kind_of(host_of(url))
        kinds[kind] += 1
        hit += url in targets
        pages += is_page
        if is_page and not pages % _BATCH:
            curve.append(round(hit / len(targets), 3))
    good = kinds.pop("", 0)
    return {
        "recall": hit / len(targets),
        "curve": curve,
        "timed": {f"{T:g}": len(targets & {url for url, _, at in fetched if at <= T}) / len(targets) for T in seconds},
        "pages": pages,
        "fetches": len(fetched),
        "bad_share": 1 - good / max(1, len(fetched)),
        "fetches_by_kind": dict(kinds.most_common()),
    }


def _rehearse(
    ordering: str, web: HostileWeb, pages: int, seconds: Sequence[float], folder: Path, settings: dict[str, Any]
) -> Fetched:
    from crawlproject.evaluation.simulation.runner import Runner
    from crawlproject.settings import CONCURRENT_REQUESTS
    from crawlproject.storage.append_log import read_lines

    concurrency = 1
    if seconds:
        settings, pages, concurrency = {**settings, "CRAWL_MAX_SECONDS": seconds[-1]}, 0, CONCURRENT_REQUESTS
    stage = Runner(web, lambda topic: settings, pages=pages, agent="benchmark", concurrency=concurrency)
    for _, place, _ in stage.rehearse(topic_of(web), [ordering], folder):
        lines = read_lines(place / "history.jsonl")
        return [(line["url"], bool(line["md5"]), line["at"]) for line in lines]
    raise AssertionError("one ordering, one run")


def _plain(web: HostileWeb, pages: int) -> Fetched:
    from scrapy.crawler import CrawlerProcess

    from benchmarks.plain_spider import SETTINGS, PlainSpider
    from crawlproject.http.virtual_web_handler import VirtualWebDownloadHandler

    fetched: Fetched = []
    start = time.time()

    class Handler(VirtualWebDownloadHandler):
        @classmethod
        def from_crawler(cls, crawler):
            return cls(crawler, web)

    class Counted(PlainSpider):
        def parse(self, response):
            fetched.append((response.url, True, time.time() - start))
            yield from super().parse(response)

    process = CrawlerProcess(
        {
            **SETTINGS,
            "REDIRECT_ENABLED": True,
            "CLOSESPIDER_PAGECOUNT": pages,
            "DOWNLOAD_HANDLERS": dict.fromkeys(("http", "https"), Handler),
        },
        install_root_handler=False,
    )
    crawler = process.create_crawler(Counted)
    process.crawl(crawler, start_urls=list(topic_of(web).seeds))
    process.start()
    return fetched[:pages]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--orderings", nargs="*", default=list(ORDERINGS))
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument(
        "--parts", nargs="*", default=["first"], help=f"default: first; of {', '.join([*GROUPS, *KINDS])}"
    )
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="another web of the same kinds")
    parser.add_argument("--plain", action="store_true", help="plain Scrapy too")
    parser.add_argument(
        "--seconds", nargs="*", type=float, default=[], metavar="T", help="a budget of time, of the last of these"
    )
    parser.add_argument("--json", type=Path, help="write what was found here")
    parser.add_argument("-s", dest="set", metavar="NAME=VALUE", action="append", help="a setting of every rehearsal")
    parser.add_argument("--child", nargs=2, metavar=("ORDERING", "WEB"), help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
