"""How many fetches a second one Redis can carry: workers that only call Redis, with the steps of a crawl.

    python benchmarks/redis_load.py [--workers 4] [--seconds 10] [--links 31] [--hosts 2000]

Each process is a worker of one crawl and takes the steps of the real client (``Crew.take``) as fast as Redis answers: in each
step the visits of ``--at-once`` hosts begin and those of the step before end. For each fetch, ``--links`` URLs are sent to the
owners of their hosts, and a message of the size of a page of the endless web goes to all workers. The worker reads its inbox and
the messages, and trims the inbox. Printed are fetches a second and Redis CPU a fetch; one second divided by that is the limit.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from multiprocessing import Process, Queue
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/redis_load.py`

import redis

from benchmarks.redis_server import redis_server
from crawlproject.frontier.redis import mail
from crawlproject.frontier.redis.crew import Crew, HostVisit, Step
from crawlproject.frontier.redis.report import Report

MESSAGE = 1_300  # bytes: the message that tells the other workers of a page of the endless web
REST = 0.001  # seconds
KEPT = 20_000  # messages, as by default


def work(port: int, name: str, chosen: argparse.Namespace, found: Queue[int]) -> None:
    """Run one worker; put the number of its fetches into ``found``."""
    crew = Crew(redis.Redis(port=port), "load", name, name, lease=600.0, kept=KEPT)
    report = Report().dump()
    crew.join(0, report)
    others = [f"w{number}" for number in range(chosen.workers) if f"w{number}" != name] or [name]
    links = chosen.links // len(others)
    letter = [
        mail.PAGE,
        "http://h000007.example.org/articles/topic/000000000001/a-title.html",
        0.5,
        3,
        None,
        "a link",
        0.25,
    ]
    letters = mail.dump([letter] * links)
    message = os.urandom(MESSAGE)
    fetches, number, began, beat = 0, 0, time.monotonic(), 0.0
    visits: list[HostVisit] = []
    applied = None
    while (now := time.monotonic()) < began + chosen.seconds:
        step = Step(applied=applied)
        for visit in visits:
            number += 1
            step.ended.append((visit, REST))
            step.messages.append((number, name.encode() + b"\n" + message))
            step.letters += [(other, letters) for other in others]
        first = number * len(name)
        step.begin = [
            HostVisit(number + n + 1, (f"{name}-h{(first + n) % chosen.hosts}.example",)) for n in range(chosen.at_once)
        ]
        if now > beat + 1.0:
            step.beat, beat = ("beat", fetches, fetches, report), now
        answer = crew.take(step)
        fetches += len(visits)
        visits = [visit for visit, opens in zip(step.begin, answer.opens, strict=True) if not opens]
        applied = answer.inbox[-1][0] if answer.inbox else None
    found.put(fetches)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--links", type=int, default=31, help="of a page, to hosts of other workers")
    parser.add_argument("--hosts", type=int, default=2000, help="of each worker")
    parser.add_argument("--at-once", type=int, default=4, help="fetches in a step")
    chosen = parser.parse_args()
    with TemporaryDirectory() as folder, redis_server(Path(folder)) as server:
        client = redis.Redis(port=server.port)
        found: Queue[int] = Queue()
        before = client.info("cpu")
        workers = [Process(target=work, args=(server.port, f"w{n}", chosen, found)) for n in range(chosen.workers)]
        for worker in workers:
            worker.start()
        fetches = sum(found.get() for _ in workers)
        after = client.info("cpu")
        for worker in workers:
            worker.join()
    used = sum(after[key] - before[key] for key in ("used_cpu_user", "used_cpu_sys"))
    each = 1000 * used / fetches
    print(f"{fetches / chosen.seconds:.0f} fetches a second, {each:.3f} ms of Redis each: {1000 / each:.0f} a node")


if __name__ == "__main__":
    main()
