"""The rate of honest hosts beside a server that floods the crawler, for each kind of flood.

    python -m benchmarks.floods [--kinds KIND...] [--seconds N] [--hosts N] [--runs N] [-s NAME=VALUE]

Real sockets on loopback. Each crawl takes ``--seconds`` (10), without pauses between visits, so that what a flood costs the
crawler is missing elsewhere. Told are the pages a second of ``--hosts`` honest hosts (10) without and with the flood, in turns,
the ratio of the medians of ``--runs`` (3), and what the history says of the flooding host.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.flood_servers import FLOODS, Ports, flood_servers
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


class Rate(NamedTuple):
    pages_a_second: float
    pages_a_cpu_second: float
    errors: Counter[str]  # of the flooding host


def measure(ports: Ports, floods: Sequence[str], *, hosts: int, seconds: float, settings: Sequence[str] = ()) -> Rate:
    """One crawl of ``hosts`` honest hosts and one host of each of ``floods``."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "topic.toml").write_text(
            f'keywords = "coral reef"\nseeds = {json.dumps(ports.seeds(floods, hosts))}\n'
        )
        chosen = {**SETTINGS, "CRAWL_DIR": folder / "crawl", "CRAWL_MAX_SECONDS": seconds, "DOWNLOAD_TIMEOUT": 30}
        asked = [f"{key}={value}" for key, value in chosen.items()] + list(settings)
        command = [
            sys.executable,
            "-m",
            "scrapy",
            "crawl",
            "topical",
            "-a",
            f"topic={folder / 'topic.toml'}",
            "-a",
            "ordering=breadth_first",
        ]
        process = MeasuredProcess(
            [*command, *(part for one in asked for part in ("-s", one))],
            environment=os.environ,
            errors=folder / "errors",
        )
        usage = process.wait(seconds + 60)
        lines = [json.loads(line) for line in (folder / "crawl" / "history.jsonl").read_text().splitlines()]
    honest = [line["at"] for line in lines if line["md5"] and "//127.0.1." in line["url"]]
    errors = Counter(
        line["error"] or ("page" if line["md5"] else "redirect") for line in lines if "//127.0.1." not in line["url"]
    )
    begun = min(honest)
    return Rate(sum(at < begun + seconds - 1 for at in honest) / (seconds - 1), len(honest) / usage.cpu_seconds, errors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="*", default=list(FLOODS), help=f"of {', '.join(FLOODS)}; default: each")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--hosts", type=int, default=10)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("-s", dest="set", metavar="NAME=VALUE", action="append", default=[])
    chosen = parser.parse_args()
    with flood_servers() as ports:
        for kind in chosen.kinds:
            alone, beside = [], []
            for _ in range(chosen.runs):
                for floods, found in (((), alone), ((kind,), beside)):
                    found.append(
                        measure(ports, floods, hosts=chosen.hosts, seconds=chosen.seconds, settings=chosen.set)
                    )
            print(_line(kind, alone, beside), flush=True)


def _line(kind: str, alone: Sequence[Rate], beside: Sequence[Rate]) -> str:
    rates = [median(rate.pages_a_second for rate in rates) for rates in (alone, beside)]
    of_cpu = [median(rate.pages_a_cpu_second for rate in rates) for rates in (alone, beside)]
    return (
        f"{kind:15} {rates[0]:6.1f} -> {rates[1]:6.1f} pages/s = {rates[1] / rates[0]:.2f}   "
        f"{of_cpu[0]:6.1f} -> {of_cpu[1]:6.1f} pages/CPU s = {of_cpu[1] / of_cpu[0]:.2f}   {dict(beside[-1].errors)}"
    )


if __name__ == "__main__":
    main()
