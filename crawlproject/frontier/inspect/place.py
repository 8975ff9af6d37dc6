"""Which frontier a person means, and who has it in use: asked by ``scrapy frontier``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.frontier.inspect.open import clear_frontier, read_frontier
from crawlproject.frontier.inspect.view import FrontierView
from crawlproject.storage.crawl_files import holder_of


@dataclass(frozen=True, slots=True)
class FrontierPlace:
    """A frontier: its ``title``, what looks into it, what removes it, and who uses it now (None: nobody, as far as known)."""

    title: str
    view: FrontierView
    clear: Callable[[], object]
    holder: str | None


def find_place(asked: str) -> FrontierPlace:
    """The frontier in a crawl folder, in a ``JOBDIR``, in a folder of its own, or in Redis (``redis://host:port/db/crawl``).

    Raises ``BadCrawlDir``, and ``StorageFailed`` when there is no Redis.
    """
    if asked.startswith(("redis://", "rediss://")):
        return _in_redis(asked)
    for folder in (Path(asked) / "frontier", Path(asked)):
        view = read_frontier(folder)
        if view is not None:
            holder = holder_of(folder) or holder_of(Path(asked))
            return FrontierPlace(str(folder), view, partial(_clear, folder), holder and f"process {holder}")
    raise BadCrawlDir(asked, "there is no frontier; expected a crawl folder, a JOBDIR, or the folder of a frontier")


def _in_redis(asked: str) -> FrontierPlace:
    from crawlproject.frontier.inspect.redis import RedisView
    from crawlproject.frontier.redis.connection import connect

    url, _, crawl = asked.rpartition("/")
    view = RedisView(connect(url=url, slots=None), crawl)
    if not crawl or not view.exists():
        raise BadCrawlDir(asked, f"there is no crawl {crawl!r} in this Redis; expected redis://host:port/db/crawl")
    workers = view.workers()
    return FrontierPlace(asked, view, view.clear, f"workers {', '.join(workers)}" if workers else None)


def _clear(folder: Path) -> None:
    try:
        clear_frontier(folder)
    except OSError as error:
        raise StorageFailed(f"cannot remove the frontier in {folder}: {error}") from error
