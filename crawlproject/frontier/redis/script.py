"""The script that runs in the server, and what a call of it is made of."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from redis.exceptions import NoScriptError, ResponseError

from crawlproject.errors import BadSetting, ServerFailed
from crawlproject.frontier.redis.connection import Server

NAMESPACE = "topical"  # of all keys, besides the keys to push seeds to
SLOTS = f"{NAMESPACE}:slots"
_ENDS = ("FENCED", "FORGOTTEN")  # what the script answers when this process is to stop

Operation = tuple[bytes | str | int | float, ...]  # a name and its arguments, see lua/6_operations.lua


@dataclass(frozen=True, slots=True)
class FrontierRules:
    """The settings of a frontier, sent with every call, so that the server keeps none.

    ``strict`` as in ``KRule``. ``max_urls`` is of one slot, ``newcomers_stay`` as in ``MemoryFrontier``;
    ``max_urls_per_host``, ``max_pages``: 0 for no limit. ``lease`` is for how many seconds a worker may be silent before
    others fetch what it was fetching.
    """

    batch_size: int = 50
    strict: bool = True
    max_urls: int = 0
    newcomers_stay: bool = False
    commit: int = 1
    max_urls_per_host: int = 0
    max_pages: int = 0
    lease: float = 600.0
    min_delay: float = 1.0
    factor: float = 1.0
    margin: float = 0.0


class Script:
    """The calls of one worker of one crawl."""

    def __init__(self, server: Server, crawl: str, worker: str, token: str, rules: FrontierRules) -> None:
        self._server = server
        self._crawl = crawl
        rule = rules
        self._before = (worker, token)
        self._after = (
            rule.batch_size,
            rule.max_urls,
            rule.commit,
            rule.max_urls_per_host,
            rule.max_pages,
            text_of(rule.lease),
            *map(text_of, (rule.min_delay, rule.factor, rule.margin)),
            int(rule.strict),
            int(rule.newcomers_stay),
        )

    def call(
        self, slot: int, operations: Sequence[Operation], *, sent: float | None = None, hosts_elsewhere: int = 0
    ) -> list[Any]:
        """Do the operations in one atomic step; an answer each.

        ``sent``, what the caller's clock shows, makes all times differences to it; without it they are compared as they
        are. Raises what ``redis`` raises, and ``StorageFailed`` when another process took over the worker's name, or the
        server has forgotten the crawl.
        """
        arguments = (
            *self._before,
            "" if sent is None else text_of(sent),
            *self._after,
            hosts_elsewhere,
            *(text_of(part) if isinstance(part, float) else part for operation in operations for part in operation),
        )
        keys = crawl_prefix(self._crawl, slot), shared_prefix(slot)
        try:
            return self._run(keys, arguments)
        except ResponseError as error:
            code, _, message = str(error).partition(" ")
            if code in _ENDS:
                raise ServerFailed(message) from error
            raise

    def _run(self, keys: Sequence[str], arguments: Sequence[Any]) -> list[Any]:
        source, sha = _source()
        try:
            return self._server.evalsha(sha, len(keys), *keys, *arguments)
        except NoScriptError:  # a server that was restarted since
            return self._server.eval(source, len(keys), *keys, *arguments)


def crawl_prefix(crawl: str, slot: int) -> str:
    """What the keys of a crawl begin with; the hash tag keeps the keys of one slot on one node of a cluster."""
    return f"{shared_prefix(slot)}:crawl:{crawl}"


def shared_prefix(slot: int) -> str:
    """What the keys begin with that all crawls of a server share."""
    return f"{NAMESPACE}:{{{slot}}}"


def check_slots(server: Server, slots: int) -> None:
    """Raises ``BadSetting`` when the server's crawls are spread over another number of slots."""
    server.set(SLOTS, slots, nx=True)
    there = int(server.get(SLOTS))
    if there != slots:
        wish = f"the crawls on this server are spread over {there} slots, not {slots}; all must have the same number"
        raise BadSetting("setting FRONTIER_REDIS_SLOTS", wish)


def text_of(number: float) -> str:
    """A number so that the server reads the same one."""
    return repr(float(number))


@cache
def _source() -> tuple[str, str]:
    parts = sorted((part for part in files(__package__).joinpath("lua").iterdir()), key=lambda part: part.name)
    source = "\n".join(part.read_text(encoding="utf-8") for part in parts if part.name.endswith(".lua"))
    return source, hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()
