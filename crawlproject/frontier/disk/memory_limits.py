"""How much of a frontier on disk is in memory."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MemoryLimits:
    """How many URLs are in memory: new ones of the shared queue and of each ``host`` before they become a sorted run.

    A host that has more than ``crowd`` URLs gets a queue of its own at once. About ``hosts`` of those that have one, and of
    those that rest, are in memory, at a kilobyte each. Up to ``ahead`` held URLs are, when it is asked what will be due.
    """

    shared: int = 32_768
    host: int = 64
    crowd: int = 256
    hosts: int = 50_000
    ahead: int = 4096
