"""A checkpoint of what the ordering of a crawl has learned, so that a resume need not read all pages again.

Everything can be learned again from the history (``replay.py``), and what the parts learn is, in a fraction of a millisecond a
line. What an ordering learns takes ten to twenty times longer, since it looks at the pages. So its state is written now and
then, and a resume replays to it only what came after. Without the file, or with one that does not fit, all is replayed.

The state is written by a fork of the process: it has the memory as it was at that moment, and the crawl goes on meanwhile (as
Redis writes its snapshots). It is taken when a page's links are in the frontier: no page is half learned.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import orjson

import crawlproject
from crawlproject.core import learned_state
from crawlproject.core.learned_state import Unfit
from crawlproject.core.ordering_feed import OrderingFeed
from crawlproject.options import Options
from crawlproject.orderings.base import BaseOrdering
from crawlproject.records import Topic
from crawlproject.storage.append_log import TailPosition, TailReader, write_atomically
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.storage.read import HISTORY

NAME = "learned"  # the file, in a crawl folder

_FORMAT = {"format": "learned state", "version": 1}
_SHARE = 0.01  # of the time that writing may take
_AT_THE_END = 1_000  # lines since the last checkpoint from which a crawl that ends writes another
_WITH_WEIGHT = (
    "page_",
    "topic_",
    "trap_",
    "crawl_url_",
    "crawl_seed",
    "ordering",
)  # settings that change what is learned


class Checkpoint(NamedTuple):
    """What was learned from the first so many ``lines`` of the history."""

    lines: int
    ordering: BaseOrdering


class Checkpoints:
    """Those of one crawl, at most one each ``seconds``; 0: none. ``parameters`` are the ordering's."""

    def __init__(
        self, folder: CrawlFolder, topic: Topic, feed: OrderingFeed, options: Options, parameters: Mapping[str, Any]
    ) -> None:
        self._folder = folder
        self._feed = feed
        self._ordering = ordering = feed.ordering
        self._path = folder.path / NAME
        self._seconds = options.crawl_checkpoint_seconds
        self._fits = _fingerprint(topic, options, type(ordering), parameters)
        self._next = 0.0
        self._lines = 0
        self._child = 0
        inherits = type(ordering).inherited_for_links is not BaseOrdering.inherited_for_links
        # What a URL inherits is in no line: an ordering that hands it down is shown all pages once more.
        self._is_on = bool(self._seconds and folder.bodies and ordering.learns and not topic.members and not inherits)
        self._forks = hasattr(os, "fork") and sys.platform != "darwin"  # where it is unsafe beside threads

    def forbid(self) -> None:
        """This crawl also learns from what is not in its history."""
        self._is_on = False

    # ------------------------------------------------------------ written

    def pass_time(self, now: float) -> None:
        """A page's links are in the frontier at ``now``: write a checkpoint if it is time."""
        if not self._is_on or not self._forks or now < self._next or self._feed.judgments:
            return
        if not self._next:
            self._next = now + self._seconds
        elif not self._child:
            self._next = now + self._seconds
            self._fork()
        else:
            self._look_after_child(now)

    def close(self) -> None:
        """The crawl ends. Raises ``StorageFailed``."""
        if self._child:
            with suppress(ChildProcessError):
                os.waitpid(self._child, 0)
            self._child = 0
        new = self._folder.history.lines - self._lines
        if self._is_on and not self._feed.judgments and new >= _AT_THE_END:
            with suppress(Unfit):
                self._write(self._head())

    def _look_after_child(self, now: float) -> None:
        """If the last one is written, another may be: the later the more CPU time that took."""
        try:
            child, status, used = os.wait4(self._child, os.WNOHANG)
        except ChildProcessError:  # somebody else has looked after it
            child, status, used = self._child, 0, None
        if child:
            self._child = 0
            self._is_on = (
                not status
            )  # what was refused once, or cannot be written, would be again: the history has it all
            cost = used.ru_utime + used.ru_stime if used else 0.0
            self._next = max(now, self._next + cost / _SHARE - self._seconds)

    def _fork(self) -> None:
        head = self._head()
        self._lines = head["place"]["lines"]
        self._child = os.fork()
        if self._child:
            return
        status = 1
        try:  # this process has no other thread, and runs nothing of the crawl: it writes, and is gone
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # above all the lock of the folder, which a resume wants
            os.nice(10)
            self._write(head)
            status = 0
        finally:
            os._exit(status)

    def _head(self) -> dict[str, Any]:
        return {**_FORMAT, "fits": self._fits, "place": self._folder.history.place().as_json()}

    def _write(self, head: Mapping[str, Any]) -> None:
        state = learned_state.dump(self._ordering)
        line = orjson.dumps({**head, "digest": _digest(state)}) + b"\n"
        write_atomically(self._path, [line, state], private=True)

    # ------------------------------------------------------------ read

    def read(self) -> Checkpoint | None:
        """The last one; None: there is none that fits, which is told if there is one at all."""
        for draft in self._folder.path.glob(f"{NAME}.*.tmp"):  # of a process that was killed
            draft.unlink(missing_ok=True)
        if not self._is_on or not self._path.exists():
            return None
        try:
            found = self._read()
        except (OSError, ValueError, KeyError, TypeError, AttributeError, Unfit) as damage:
            self._folder.warnings.append(f"{self._path} cannot be used ({damage}): all pages are read again")
            return None
        self._lines = found.lines
        return found

    def _read(self) -> Checkpoint:
        with self._path.open("rb") as file:
            head = orjson.loads(file.readline())
            state = file.read()
        if {name: head.get(name) for name in _FORMAT} != _FORMAT:
            raise ValueError("it is of another version")
        if head["fits"] != self._fits:
            raise ValueError("it was made with other settings, another topic or another version")
        if head["digest"] != _digest(state):
            raise ValueError("it is damaged")
        place = TailPosition.from_json(head["place"])
        if not place.offset or TailReader(self._folder.path / HISTORY, place).restarted:
            raise ValueError("it is of another history")
        return Checkpoint(place.lines, learned_state.load(state, self._ordering))


def _fingerprint(topic: Topic, options: Options, ordering: type[BaseOrdering], parameters: Mapping[str, Any]) -> str:
    """What the state depends on besides the history."""
    settings = {name: value for name, value in options.model_dump().items() if name.startswith(_WITH_WEIGHT)}
    asked = [topic.name, topic.keywords, topic.seeds, topic.language, topic.positive, topic.negative]
    who = [crawlproject.__version__, sys.version_info[:2], _sources(), ordering.__module__, ordering.__qualname__]
    return _digest(orjson.dumps([who, asked, settings, dict(parameters)], option=orjson.OPT_SORT_KEYS, default=str))


def _sources() -> str:
    """The code of the orderings: an attribute more, and a state of before is another one."""
    sources = sorted(Path(str(files("crawlproject.orderings"))).rglob("*.py*"))
    return _digest(b"".join(path.read_bytes() for path in sources if path.suffix in (".py", ".pyx")))


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
