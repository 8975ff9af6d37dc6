"""Makes and opens the frontier that the settings ask for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from crawlproject.errors import BadSetting
from crawlproject.extras import need
from crawlproject.frontier.base import Frontier
from crawlproject.frontier.disk.files import is_disk_frontier
from crawlproject.frontier.disk.frontier import DiskFrontier
from crawlproject.frontier.journal import NAME, JournaledFrontier
from crawlproject.frontier.memory import MemoryFrontier
from crawlproject.frontier.politeness import Politeness
from crawlproject.options import Options

if TYPE_CHECKING:  # the Redis client takes a tenth of a second to import: only crawls that need it do
    from crawlproject.frontier.redis.connection import Server
    from crawlproject.frontier.redis.worker import RedisWorker

# Seconds added to every rest of a live crawl: a server on the same machine was seen to note the end of a response half a
# millisecond after the client had its last byte.
MARGIN = 0.005
_LONGEST_FETCH = 600.0  # seconds: more than ``DOWNLOAD_TIMEOUT`` (180 by default)
_WORTH_SHIFTING = 10.0  # seconds; smaller adjustments of clocks are common, and shifting looks at every URL
_LONGEST_RETRY = 60.0  # times CRAWL_RETRY_DELAY, as in ``core/connections.py``


def make_frontier(options: Options, commit: int = 1, margin: float = MARGIN) -> MemoryFrontier:
    """An empty frontier in memory, as the ``FRONTIER_*`` and ``POLITENESS_*`` settings ask for."""
    return MemoryFrontier(
        batch_size=options.frontier_batch_size,
        strict=is_strict(options),
        commit=_commit(options, commit),
        max_urls=options.frontier_max_urls,
        newcomers_stay=options.frontier_full == "newest",
        politeness=make_politeness(options, margin),
        random=Random(options.crawl_seed),
    )


def make_politeness(options: Options, margin: float = MARGIN) -> Politeness:
    """The rests that the ``POLITENESS_*`` settings ask for."""
    return Politeness(
        options.politeness_min_delay, options.politeness_factor, margin=margin, longest=longest_rest(options)
    )


def longest_rest(options: Options) -> float:
    """The longest rest in seconds: what a host may ask for (``Retry-After``) or gets when it is silent, plus a visit's rest."""
    asked = options.politeness_max_crawl_delay
    after = max(options.politeness_min_delay, asked, options.politeness_factor * _LONGEST_FETCH)
    return max(asked, _LONGEST_RETRY * options.crawl_retry_delay) + after + MARGIN


def open_frontier(
    options: Options, folder: Path, *, clock: Callable[[], float], commit: int = 1, name: str = "", behind: float = 0.0
) -> Frontier:
    """The frontier of a live crawl, new or as the last run left it. ``folder`` is its own; ``name`` names it on a server.

    ``commit`` is the N that the ordering wants, unless ``FRONTIER_COMMIT`` asks for more. ``behind``: seconds by which the clock
    was set back since the last run; not for Redis, where the workers have to agree on the time. Raises ``BadCrawlDir`` for
    damaged state, ``BadSetting`` for a server that is used for something else, and ``StorageFailed``.
    """
    if options.frontier == "redis":
        return join_frontier(options, options.frontier_redis_name or name, folder, clock=clock, commit=commit)
    if _kind(options.frontier, folder) == "disk":
        return _on_disk(options, folder, clock=clock, commit=commit, behind=behind)
    frontier = JournaledFrontier(make_frontier(options, commit), folder, clock=clock, behind=behind)
    _shift_holds(frontier, clock(), behind)
    return frontier


def _on_disk(
    options: Options, folder: Path, *, clock: Callable[[], float], commit: int, behind: float = 0.0
) -> DiskFrontier:
    frontier = DiskFrontier(
        folder,
        batch_size=options.frontier_batch_size,
        strict=is_strict(options),
        commit=_commit(options, commit),
        max_urls=options.frontier_max_urls,
        newcomers_stay=options.frontier_full == "newest",
        politeness=make_politeness(options),
        random=Random(options.crawl_seed),
        clock=clock,
        cache=options.frontier_disk_cache,
        behind=behind,
    )
    _shift_holds(frontier, clock(), behind)
    return frontier


def _shift_holds(frontier: Frontier, now: float, behind: float) -> None:
    """Let URLs wait only for the time that was left: the clock was set back by ``behind`` seconds since they were held."""
    if behind >= _WORTH_SHIFTING:
        with frontier.batch():
            for url in [url for url in frontier.waiting() if url.not_before > now]:
                frontier.hold(url.key, max(0.0, url.not_before - behind))


def is_strict(options: Options) -> bool:
    """Whether the crawl waits for the k rule: only when it must save pages rather than time."""
    return options.crawl_scarce == "pages"


def _commit(options: Options, wanted: int) -> int:
    """N of Best-N-First: the setting if it is above 1, else what the ordering wants."""
    return options.frontier_commit if options.frontier_commit > 1 else wanted


def _kind(wanted: str, folder: Path) -> str:
    """The kind a crawl began with, also when it resumes; in memory where earlier versions recorded no kind."""
    began = "disk" if is_disk_frontier(folder) else "memory" if (folder / NAME).exists() else wanted
    if began != wanted == "memory":
        wish = f"this crawl was begun with {began!r}, in {folder}; resume it with that, not {wanted!r}"
        raise BadSetting("setting FRONTIER", wish)
    return began


def join_frontier(
    options: Options,
    name: str,
    folder: Path,
    *,
    clock: Callable[[], float],
    commit: int = 1,
    behind: float = 0.0,
    pages: int = 0,
    endless: bool = False,
) -> RedisWorker:
    """This worker's frontier of crawl ``name``, in ``folder``, with its link to the others. Raises as ``open_frontier`` does.

    ``pages``: how many this worker has stored. ``endless``: ``CRAWL_MAX_PAGES`` does not end the crawl.
    """
    need("setting FRONTIER=redis", "redis")
    from crawlproject.frontier.redis.joining import join

    if not name:
        raise BadSetting("setting FRONTIER_REDIS_NAME", "expected a name for the crawl in Redis")
    server = server_of(options)
    return join(
        server,
        name,
        options.worker,
        _on_disk(options, folder, clock=clock, commit=commit, behind=behind),
        clock=clock,
        folder=folder,
        lease=options.frontier_redis_lease,
        messages=options.frontier_redis_messages,
        pages=pages,
        max_pages=0 if endless else options.crawl_max_pages,
        max_urls_per_host=options.trap_max_urls_per_host,
    )


def server_of(options: Options) -> Server:
    """The Redis server that the ``REDIS_*`` settings name. Raises ``BadSetting`` and ``StorageFailed``."""
    from crawlproject.frontier.redis.connection import connect

    return connect(
        url=options.redis_url,
        host=options.redis_host,
        port=options.redis_port,
        db=options.redis_db,
        params=options.redis_params,
    )
