"""The names of the disasters, and the frontiers that they apply to."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.chaos.crews import (
    clock_off,
    cluster,
    disk_lost,
    drain,
    given_up,
    join,
    network,
    redis_kept,
    redis_lost,
    workers,
)
from benchmarks.chaos.disaster import Scene, clock, cut, disk_full, flip, kill, memory, nothing, stop, suspend, zero

ALL = ("memory", "disk", "redis")
KINDS: dict[str, tuple[Callable[[Scene], None], tuple[str, ...]]] = {
    **{
        each.__name__: (each, ALL) for each in (nothing, kill, stop, cut, zero, flip, disk_full, clock, suspend, memory)
    },
    **{
        each.__name__: (each, ("redis",))
        for each in (workers, join, drain, disk_lost, clock_off, network, given_up, redis_kept, redis_lost, cluster)
    },
}
