"""The rate of honest hosts beside one or many servers that flood the crawler, for each kind of flood.

    python -m benchmarks.floods [--kinds KIND...] [--swarm N] [--pages N | --seconds S] [--hosts N] [--runs N] [--proxy]
                                [--ordering NAME] [-s NAME=VALUE]

Real sockets on loopback: a crawl of ``--pages`` pages (500) of ``--hosts`` honest hosts (10), without pauses between visits,
so that whatever a flood costs the crawler slows the honest hosts. The crawls are repeated ``--runs`` (3) times in turns: one
crawl without floods, and one beside each kind. Printed are the pages for each second of the crawler's CPU, start-up left out,
the honest pages for each second of wall-clock time, both also as a share of those without floods (median of the runs), and
the history's entries for the flooding host. With ``--swarm N`` there are N flooding hosts, all of one kind, and last of all
kinds in turn (``mixed``).

With ``--seconds S`` each crawl runs for S seconds, with budgets of sites and a pause of half a second between two visits of a
host, and the measure is the honest pages in that time, as a share of those without floods. With ``--proxy`` the crawl uses a
proxy: hosts have names, all bad ones below one domain, and the crawler does not know their addresses.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.flood_servers import KINDS, Ports, flood_servers
from benchmarks.forward_proxy import forward_proxy
from benchmarks.measured_process import MeasuredProcess

SETTINGS = {
    "POLITENESS_MIN_DELAY": 0,
    "POLITENESS_FACTOR": 0,
    "CRAWL_ALLOWED_ADDRESSES": "127.0.0.0/8",
    "CRAWL_ALLOWED_PORTS": "[]",
    "CRAWL_PROGRESS_SECONDS": 0,
    "CRAWL_SITE_BUDGET": 0,
    "LOG_LEVEL": "ERROR",
}


POLITE = {"POLITENESS_MIN_DELAY": 0.5, "CRAWL_MAX_PAGES": 0, "CRAWL_SITE_BUDGET": 1}
MIXED = "mixed"
_HONEST = re.compile(r"//127[.-]0[.-]1[.-]")


class Rate(NamedTuple):
    a_cpu_second: float
    a_second: float
    errors: Counter[str]  # of the flooding host; "page" means no error


def measure(
    ports: Ports,
    floods: Sequence[str],
    *,
    hosts: int,
    pages: int,
    seconds: float = 0.0,
    swarm: int = 0,
    proxy: str = "",
    ordering: str = "breadth_first",
    settings: Sequence[str] = (),
) -> Rate:
    """Run one crawl of ``hosts`` honest hosts and one host of each of ``floods``, or ``swarm`` hosts of these kinds.

    The crawl ends after ``pages`` pages; if ``seconds`` is not 0, it ends after ``seconds`` instead.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        topic, meter = folder / "topic.toml", folder / "meter.json"
        topic.write_text(
            f'keywords = "coral reef"\nseeds = {json.dumps(ports.seeds(floods, hosts, swarm, named=bool(proxy)))}\n'
        )
        chosen = {**SETTINGS, "CRAWL_DIR": folder / "crawl", "CRAWL_MAX_PAGES": pages, "DOWNLOAD_TIMEOUT": 10}
        if seconds:
            chosen |= {**POLITE, "CRAWL_MAX_SECONDS": seconds}
        chosen["EXTENSIONS"] = json.dumps({"benchmarks.meter.Meter": 0})
        asked = [f"{key}={value}" for key, value in chosen.items()] + list(settings)
        command = [
            sys.executable,
            "-m",
            "scrapy",
            "crawl",
            "topical",
            "-a",
            f"topic={topic}",
            "-a",
            f"ordering={ordering}",
        ]
        MeasuredProcess(
            [*command, *(part for one in asked for part in ("-s", one))],
            environment={**os.environ, "METER_FILE": str(meter), **({"http_proxy": proxy} if proxy else {})},
            errors=folder / "errors",
        ).wait(600)
        lines = [json.loads(line) for line in (folder / "crawl" / "history.jsonl").read_text().splitlines()]
        cpu = json.loads(meter.read_text())["cpu_seconds"]
    honest = sorted(line["at"] for line in lines if line["md5"] and _HONEST.search(line["url"]))
    # With a budget of pages, leave out the last tenth: these pages may wait for a flood in flight that could fill the budget.
    most = honest if seconds else honest[: -len(honest) // 10]
    others = [line for line in lines if not _HONEST.search(line["url"])]
    errors = Counter(line["error"] or ("page" if line["md5"] else "redirect") for line in others)
    stored = sum(bool(line["md5"]) for line in lines)  # front pages and the pages of a flood cost as much as others
    return Rate(stored / cpu, len(most) / (seconds or most[-1] - most[0]), errors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), help=f"of {', '.join(KINDS)}; default: each")
    parser.add_argument("--swarm", type=int, default=0, help="flooding hosts at once; 0: one")
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=0.0, help="of a polite crawl, in place of pages")
    parser.add_argument("--proxy", action="store_true", help="names of hosts that a proxy finds")
    parser.add_argument("--ordering", default="breadth_first")
    parser.add_argument("--hosts", type=int, default=10)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("-s", dest="set", metavar="NAME=VALUE", action="append", default=[])
    chosen = parser.parse_args()
    found: dict[str, list[Rate]] = {}
    with flood_servers() as ports, forward_proxy() if chosen.proxy else nullcontext("") as proxy:
        for _ in range(chosen.runs):
            for kind in ("", *chosen.kinds, *([MIXED] if chosen.swarm else [])):
                floods = chosen.kinds if kind == MIXED else [kind] if kind else []
                rate = measure(
                    ports,
                    floods,
                    hosts=chosen.hosts,
                    pages=chosen.pages,
                    seconds=chosen.seconds,
                    swarm=chosen.swarm,
                    proxy=proxy,
                    ordering=chosen.ordering,
                    settings=chosen.set,
                )
                found.setdefault(kind, []).append(rate)
                print(_line(kind, found[kind], found[""]), flush=True)


def _line(kind: str, beside: Sequence[Rate], alone: Sequence[Rate]) -> str:
    shares = [
        median(rates) / median(without)
        for rates, without in (
            ([rate.a_cpu_second for rate in beside], [rate.a_cpu_second for rate in alone]),
            ([rate.a_second for rate in beside], [rate.a_second for rate in alone]),
        )
    ]
    rate = beside[-1]
    return (
        f"{kind or 'no flood':15} {rate.a_cpu_second:6.1f} pages/CPU s {rate.a_second:6.1f} pages/s"
        f"   shares {shares[0]:.2f} {shares[1]:.2f}   {dict(rate.errors)}"
    )


if __name__ == "__main__":
    main()
