"""Runs the disasters and prints their costs, by kind and frontier."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from functools import partial
from pathlib import Path
from random import Random

import benchmarks.chaos as package
from benchmarks.chaos.crawler import Crawler
from benchmarks.chaos.disaster import Scene
from benchmarks.chaos.kinds import ALL, KINDS
from benchmarks.chaos.verdict import Verdict, judge
from benchmarks.chaos.web import ChaosWeb
from benchmarks.redis_server import LASTING, RedisCluster, RedisServer
from benchmarks.worker_kills import served
from crawlproject.http.virtual_web_server import read_log

CASES = [(kind, frontier) for kind, (_, frontiers) in KINDS.items() for frontier in frontiers]
_RESUMES = 5


def run(seed: int, cases: list[tuple[str, str]], keep: Path | None) -> Verdict:
    """Do one run in its own folder, which is kept if something was wrong."""
    kind, frontier = cases[seed % len(cases)]
    verdict = Verdict(seed, kind, frontier)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="chaos") as name:
        folder = Path(name)
        try:
            _run(verdict, folder)
        except Exception:
            verdict.failure = traceback.format_exc()
        verdict.seconds = round(time.monotonic() - began, 1)
        if keep and not verdict.is_good:
            shutil.move(folder, keep / str(seed))
            folder.mkdir()
    return verdict


def _run(verdict: Verdict, folder: Path) -> None:
    random = Random(verdict.seed)
    web = ChaosWeb(random)
    redis: RedisServer | RedisCluster | None = None
    settings: dict[str, object] = {"FRONTIER": verdict.frontier, "CRAWL_WARC": random.random() < 0.2}
    if verdict.frontier == "redis":
        durable = ("--appendonly", "no") if verdict.kind == "redis_lost" else LASTING
        redis = (RedisCluster if verdict.kind == "cluster" else RedisServer)(folder / "redis", *durable)
        redis.start()
        settings["REDIS_URL"] = redis.url
    with served(web, folder / "log") as port:
        crawler = Crawler(folder, port, settings, random.choice(("adaptive", "dom")))
        scene = Scene(crawler, random, len(web.pages), redis)
        try:
            KINDS[verdict.kind][0](scene)
            _resume(verdict, scene)
        finally:
            crawler.kill_all()
            if scene.relay:
                scene.relay.tear()
            if redis:
                redis.kill()
            verdict.notes = scene.notes
    judge(verdict, web, scene, read_log(folder / "log"))


def _resume(verdict: Verdict, scene: Scene) -> None:
    """Run the command again until the crawl is complete, and follow its advice."""
    crawler = scene.crawler
    if any("UNEXPECTED" in note for note in scene.notes):
        verdict.failure = scene.notes[-1]
    before = crawler.log.stat().st_size if scene.is_damaged and verdict.kind != "redis_lost" else 0
    for _ in range(_RESUMES):
        if scene.is_over:
            break
        since = crawler.log.stat().st_size
        for name in crawler.names:
            crawler.start(name)
        codes = crawler.wait()
        if not any(codes):
            break
        if 3 in codes or not scene.is_damaged:  # otherwise it was refused before its first fetch
            scene.in_flight()
        advice = crawler.follow_advice(since) if {2, 3} & {*codes} else ""
        scene.notes.append(f"resume ended with {codes}; {advice}")
        if not advice:
            verdict.failure = f"no way on: exit codes {codes}"
            break
    else:
        verdict.failure = f"not complete after {_RESUMES} resumes"
    verdict.said = crawler.said(before)
    if any(raised != "MemoryError" for raised in _tracebacks(crawler.log.read_text("utf-8", "replace"))):
        verdict.failure = verdict.failure or "a traceback in the log"


def _tracebacks(log: str) -> list[str]:
    """The last lines of the tracebacks; asyncio shows one when memory is too short to read a socket."""
    return re.findall(r"^Traceback .*\n(?:[ \t].*\n)*(.*)", log, re.MULTILINE)


def table(verdicts: Iterable[Verdict]) -> str:
    """A line for each kind and frontier."""
    rows: dict[tuple[str, str], list[Verdict]] = defaultdict(list)
    for verdict in sorted(verdicts, key=lambda verdict: verdict.seed):
        rows[verdict.kind, verdict.frontier].append(verdict)
    head = f"{'kind':12}{'frontier':10}{'runs':>5}{'lost':>6}{'again':>7}{'twice':>7}{'silent':>8}{'impolite':>10}{'failed':>8}"
    lines = [f"{head}  seeds of bad runs"]
    total: list[Verdict] = []
    for key in sorted(rows, key=CASES.index):
        lines.append(_row(*key, rows[key]))
        total += rows[key]
    return "\n".join([*lines, _row("all", "", total)])


def _row(kind: str, frontier: str, some: list[Verdict]) -> str:
    lost, again, twice = (sum(each) for each in zip(*((len(v.lost), v.again, len(v.twice)) for v in some), strict=True))
    silent, impolite, failed = (
        sum(each) for each in zip(*((v.silent, len(v.impolite), bool(v.failure)) for v in some), strict=True)
    )
    bad = " ".join(str(verdict.seed) for verdict in some if not verdict.is_good) if frontier else ""
    return f"{kind:12}{frontier:10}{len(some):5}{lost:6}{again:7}{twice:7}{silent:8}{impolite:10}{failed:8}  {bad}"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.chaos",
        description=package.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seed", type=int, default=1, help="of the first run")
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--frontiers", nargs="+", choices=ALL, default=list(ALL))
    parser.add_argument("--keep", type=Path, help="keep the folders of bad runs here")
    parser.add_argument("--json", type=Path, help="also write what was found here, a line a run")
    chosen = parser.parse_args()
    cases = [case for case in CASES if case[0] in chosen.kinds and case[1] in chosen.frontiers]
    if chosen.keep:
        chosen.keep.mkdir(parents=True, exist_ok=True)
    verdicts = []
    seeds = range(chosen.seed, chosen.seed + chosen.runs)
    with ProcessPoolExecutor(chosen.jobs) as pool:
        for done in as_completed([pool.submit(partial(run, seed, cases, chosen.keep)) for seed in seeds]):
            verdicts.append(verdict := done.result())
            if chosen.json:
                with chosen.json.open("a") as file:
                    file.write(json.dumps(asdict(verdict)) + "\n")
            if not verdict.is_good:
                print(json.dumps(asdict(verdict)), file=sys.stderr, flush=True)
    print(table(verdicts))
    sys.exit(0 if all(verdict.is_good for verdict in verdicts) else 1)


if __name__ == "__main__":
    main()
