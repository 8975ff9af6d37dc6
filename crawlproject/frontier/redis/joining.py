"""How a worker joins a crawl in Redis."""

from __future__ import annotations

from collections.abc import Callable
from os import urandom
from pathlib import Path

from crawlproject.frontier.core import FrontierCore
from crawlproject.frontier.redis.connection import Server, answering
from crawlproject.frontier.redis.crew import Crew
from crawlproject.frontier.redis.handover import read_saved
from crawlproject.frontier.redis.report import Report
from crawlproject.frontier.redis.worker import RedisWorker


def join(
    server: Server,
    crawl: str,
    worker: str,
    own: FrontierCore,
    *,
    clock: Callable[[], float],
    folder: Path | None = None,
    lease: float = 600.0,
    messages: int = 0,
    pages: int = 0,
    max_pages: int = 0,
    max_urls_per_host: int = 0,
) -> RedisWorker:
    """Join a crawl. Return its frontier as this worker sees it; ``own`` holds its own hosts. Raises ``ServerFailed``.

    ``lease``: seconds that the worker may be silent before others get its hosts. ``messages``: how many messages of workers the
    server keeps; 0: workers publish none. ``pages``: stored by this worker so far. The rest is as in ``RedisWorker``.
    """
    with answering():
        crew = Crew(server, crawl, worker, urandom(8).hex(), lease=lease, kept=messages)
        heard = crew.join(pages, Report(waiting=max(1, len(own))).dump(), is_new=read_saved(folder) is None)
        applied = crew.applied()
    return RedisWorker(
        own,
        crew,
        heard,
        clock=clock,
        applied=applied,
        folder=folder,
        pages=pages,
        max_pages=max_pages,
        max_urls_per_host=max_urls_per_host,
    )
