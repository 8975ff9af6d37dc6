"""What a fetch costs the workers of one crawl: CPU of all workers and of Redis, script calls, commands and bytes.

    python benchmarks/worker_cost.py [--pages 2000] [--hosts 200] [--inside 0.8] [--orderings adaptive dom]
                                     [--workers 1 2 4] [--apart 1 2 4] [--profile FOLDER] [--json FILE]

Workers crawl the endless web of ``benchmarks/endless.py`` over sockets, without politeness; ``--inside`` is the share of links
that stay on their host, nearly none by default. ``--apart`` is the control: as many independent crawls, each with a frontier
on disk, which share the pages; it shows what running more processes than processors costs anyway. CPU time is counted, not
wall time, from the twentieth page of each worker to its last: user and system time of the workers, and separately of the
server. On a busy machine the same work takes up to three times as much CPU: ``yardstick`` is the time of a fixed piece of work
during the crawl, in ms, and ``in_yards`` the CPU of the workers divided by it. Compare only rows with equally many busy
processes: beside one process the yardstick wakes up on an idle processor, and is a third slower. ``--profile`` keeps a profile
of each worker in FOLDER (``pstats``), which multiplies the time. Files go to ``TMPDIR``: a ``TMPDIR`` in memory avoids the
time ext4 takes to create files where some were deleted within the last five minutes, up to a fifth of all.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/worker_cost.py`

import redis

from benchmarks.redis_server import redis_server
from benchmarks.throughput import ROOT, Bench, endless_web

PROFILED = """import cProfile, time
profile = cProfile.Profile(time.thread_time)
try:
    profile.runctx({!r}, globals(), locals())
finally:
    profile.dump_stats({!r})
"""


class Yardstick:
    """Times a fixed piece of work on the same processors during the crawl: ten times a second, in a thread."""

    def __init__(self) -> None:
        self._times: list[float] = []
        self._over = Event()
        self._thread = Thread(target=self._run, daemon=True)

    def __enter__(self) -> Yardstick:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def ms(self) -> float:
        return 1000 * sum(self._times) / len(self._times)

    def _run(self) -> None:
        while not self._over.wait(0.1):
            began = time.thread_time()
            json.loads(json.dumps({str(number): [number, str(number)] for number in range(2_000)}))
            self._times.append(time.thread_time() - began)


def crawl(
    bench: Bench, ordering: str, workers: int, chosen: argparse.Namespace, *, apart: bool = False
) -> dict[str, Any]:
    """Run one crawl of all workers, or with ``apart`` one crawl each; return the cost of a page."""
    with TemporaryDirectory() as name, redis_server(Path(name) / "redis") as server:
        client = redis.Redis(port=server.port)
        before = _used(client)
        with Yardstick() as yardstick:
            found = _run(bench, ordering, workers, chosen, Path(name), "" if apart else server.url)
        after, client_stats = _used(client), client.info("commandstats")
    pages = sum(report["pages"] for report in found)
    commands = {name: calls / pages for name, calls in _calls(client_stats).items()}
    return {
        "ordering": ordering,
        "apart" if apart else "workers": workers,
        "pages": pages,
        "cpu_ms": (cpu := 1000 * sum(report["cpu_seconds_a_page"] * report["pages"] for report in found) / pages),
        "yardstick": yardstick.ms(),
        "in_yards": cpu / yardstick.ms(),
        **{key: (after[key] - before[key]) / pages for key in after},
        "by_command": dict(sorted(commands.items(), key=itemgetter(1), reverse=True)),
    }


def _run(
    bench: Bench, ordering: str, workers: int, chosen: argparse.Namespace, folder: Path, url: str
) -> list[dict[str, Any]]:
    """Run ``workers`` processes; return what their meters wrote. ``url`` of the server; if empty, each crawls alone."""
    processes = []
    for number in range(workers):
        shared = {"FRONTIER": "redis", "REDIS_URL": url, "CRAWL_WORKER": f"w{number}", "FRONTIER_REDIS_NAME": "cost"}
        given = dict(part.split("=", 1) for part in chosen.set)
        settings = {"ORDERING": ordering, **given, **(shared if url else {})}
        command = bench.topical("benchmarks.meter.Meter", chosen.pages if url else chosen.pages // workers, settings)
        if url:
            place = next(part for part in command if part.startswith(str(bench.folder / "crawl")))
            command[command.index(place)] = str(folder / "crawl")
        if chosen.profile:
            chosen.profile.mkdir(parents=True, exist_ok=True)
            kept = chosen.profile / f"{ordering}-{workers}-{number}.pstats"
            command[2] = PROFILED.format(command[2], str(kept))
        with (folder / f"{number}.log").open("wb") as log:
            processes.append(
                subprocess.Popen(
                    command, cwd=ROOT, env=bench.environment(folder / f"{number}.json"), stdout=log, stderr=log
                )
            )
    for number, process in enumerate(processes):
        if process.wait() or not (folder / f"{number}.json").exists():
            raise SystemExit((folder / f"{number}.log").read_text()[-2000:])
    return [json.loads((folder / f"{number}.json").read_text()) for number in range(len(processes))]


def _calls(stats: dict[str, dict[str, float]]) -> dict[str, float]:
    return {name.removeprefix("cmdstat_"): found["calls"] for name, found in stats.items()}


def _used(client: Any) -> dict[str, float]:
    """What the server has used so far. A call runs a script; a command comes from a script or from a client."""
    found, calls = client.info("everything"), _calls(client.info("commandstats"))
    return {
        "redis_ms": 1000 * (found["used_cpu_user"] + found["used_cpu_sys"]),
        "calls": calls.get("evalsha", 0) + calls.get("eval", 0),
        "commands": sum(calls.values()),
        "bytes_in": found["total_net_input_bytes"],
        "bytes_out": found["total_net_output_bytes"],
        "entries": calls.get("xadd", 0),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=2000, help="of all workers (default: 2000)")
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--inside", type=float, default=0.0, help="share of links that stay on their host (default: 0)")
    parser.add_argument("--orderings", nargs="+", default=["adaptive", "dom"])
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--apart", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--profile", type=Path, help="keep profiles of the workers in this folder")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("-s", dest="set", action="append", default=[], metavar="NAME=VALUE")
    chosen = parser.parse_args()
    rows = []
    with TemporaryDirectory() as folder, endless_web(chosen.hosts, chosen.inside) as proxy:
        bench = Bench(proxy, Path(folder), None)
        for ordering in chosen.orderings:
            for workers, apart in [(n, True) for n in chosen.apart] + [(n, False) for n in chosen.workers]:
                rows.append(crawl(bench, ordering, workers, chosen, apart=apart))
                shown = {key: value for key, value in rows[-1].items() if key != "by_command"}
                print("  ".join(f"{k} {v:.2f}" if isinstance(v, float) else f"{k} {v}" for k, v in shown.items()))
                sys.stdout.flush()
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
