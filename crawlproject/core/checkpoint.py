"""A checkpoint of what a crawl has learned, so that a resume need not replay its whole history.

Everything can be learned again (``replay.py``): the ordering reads the pages, which takes a few milliseconds per line, and the
parts read lines and links, which takes half a millisecond. So their state is written now and then, and a resume replays only
later lines. Without a file that fits, everything is replayed. A part that returns no state (``Part.learned``) gets all lines.

There are two files. One holds the state of all learners, and is written whenever that costs no more than a fiftieth of the time:
after 100,000 pages this is every few thousand lines. The other holds the state of the ordering only, which is small and expensive
to learn. The state is taken when a page's links are in the frontier, so no page is half learned.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import orjson

import crawlproject
from crawlproject.core import learned_state
from crawlproject.core.forked_file import CAN_FORK, ForkedFile
from crawlproject.core.learned_state import Unfit
from crawlproject.core.ordering_feed import OrderingFeed
from crawlproject.options import Options
from crawlproject.orderings.base import BaseOrdering
from crawlproject.records import Topic
from crawlproject.storage.append_log import START, TailPosition, TailReader, write_atomically
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.storage.read import HISTORY, LINKS

NAME = "learned"  # the file with the state of all learners, in a crawl folder
NEWER = "learned.ordering"  # the file with a newer state of the ordering
ORDERING = "ordering"  # the section of a file with the ordering; other sections are named after their learners

_FORMAT = {"format": "learned state", "version": 2}
_OFTENER = 6  # times: how much more often the state of the ordering is written than that of all, costs permitting
_AT_THE_END = 1_000  # lines since the last checkpoint from which an ending crawl writes another one
_OF_ORDERING = (
    "page_",
    "topic_",
    "trap_",
    "crawl_url_",
    "crawl_seed",
    "ordering",
)  # settings that change what an ordering learns
_OF_ALL = (*_OF_ORDERING, "crawl_", "frontier_max_urls", "frontier_full")  # or what others learn, except for these:
_OF_NOBODY = (
    *("crawl_checkpoint_", "crawl_dir", "crawl_fsync_", "crawl_max_outage", "crawl_max_pages", "crawl_max_seconds"),
    *("crawl_metrics_", "crawl_min_timeout", "crawl_progress_", "crawl_retry_", "crawl_scarce", "crawl_warc"),
)


class Learner(Protocol):
    """A part, or another object that learns from each line (``Part.learned``)."""

    learned_classes: ClassVar[Collection[type]]

    def learned(self) -> Any: ...

    def set_learned(self, learned: Any) -> None: ...


class Checkpoint(NamedTuple):
    """``others`` are, by name, the results of ``Learner.learned`` after the lines up to ``place`` and the links up to ``links``.

    ``ordering`` has learned from the first ``ordering_lines`` lines; None if it has to learn from all lines again.
    """

    place: TailPosition
    links: TailPosition
    ordering: BaseOrdering | None
    ordering_lines: int
    others: dict[str, Any]


class Checkpoints:
    """The checkpoints of one crawl, with all learners at most every ``CRAWL_CHECKPOINT_SECONDS``; 0: none.

    ``parameters`` are those of the ordering, ``learners`` are all learners except the ordering.
    """

    def __init__(
        self,
        folder: CrawlFolder,
        topic: Topic,
        feed: OrderingFeed,
        options: Options,
        parameters: Mapping[str, Any],
        learners: Mapping[str, Learner],
    ) -> None:
        self._folder = folder
        self._feed = feed
        self._ordering = ordering = feed.ordering
        self._learners = learners
        seconds = options.crawl_checkpoint_seconds
        self._whole = ForkedFile(folder.path / NAME, seconds)
        self._newer = ForkedFile(folder.path / NEWER, seconds / _OFTENER)
        self._latest = 0.0  # the latest time at which the links of a page were offered
        self._lines = 0
        inherits = type(ordering).inherited_for_links is not BaseOrdering.inherited_for_links
        # The history does not record what a URL inherits: an ordering that passes values down needs all pages again.
        self._with_ordering = ordering.learns and not inherits
        self._is_on = bool(seconds and folder.bodies and not topic.members)
        self._fits = {
            ORDERING: partial(_fingerprint, topic, options, parameters, _OF_ORDERING, type(ordering)),
            "": partial(
                _fingerprint, topic, options, parameters, _OF_ALL, *sorted(set(map(type, learners.values())), key=repr)
            ),
        }

    def forbid(self) -> None:
        """Write no checkpoints: this crawl also learns from what is not in its history."""
        self._is_on = False

    # ------------------------------------------------------------ writing

    def pass_time(self, now: float) -> None:
        """Write a checkpoint if it is time. Called when the links of a page are in the frontier, at ``now``."""
        if not self._is_on or not CAN_FORK:
            return
        self._latest = max(now, self._latest)
        files = (self._whole, self._newer)
        for file in files:
            if (ended := file.ended()) is not None:
                # A write that failed once would fail again, and the history holds everything.
                self._is_on = self._is_on and ended.is_written
                for each in files:
                    each.put_off(ended.rest_until)
        if not self._is_on:
            return
        if self._whole.is_due(now):
            head = self._head()
            if self._whole.fork(now, lambda: self._write(self._whole, head)):
                self._lines = head["place"]["lines"]
            self._newer.restart(now)
        elif self._with_ordering and self._newer.is_due(now):
            head = self._head()
            self._newer.fork(now, lambda: self._write(self._newer, head))

    def close(self) -> None:
        """Write a last checkpoint if it is worth it: the crawl ends. Raises ``StorageFailed``."""
        for file in (self._whole, self._newer):
            file.close()
        new = self._folder.history.lines - self._lines
        if self._is_on and new >= _AT_THE_END:
            self._write(self._whole, self._head())

    def _head(self) -> dict[str, Any]:
        """The head of a checkpoint, made before the fork, which has no open files."""
        place, links = self._folder.history.place(), self._folder.links
        behind = links.place(0) if links else TailPosition()
        return {**_FORMAT, "at": self._latest, "place": place.as_json(), "links": behind.as_json()}

    def _write(self, file: ForkedFile, head: Mapping[str, Any]) -> None:
        states = self._states(self._learners if file is self._whole else {})
        sections = [
            {"name": name, "fits": self._fit(name), "size": len(state), "digest": _digest(state)}
            for name, state in states.items()
        ]
        line = orjson.dumps({**head, "sections": sections}) + b"\n"
        write_atomically(file.path, [line, *states.values()], private=True)

    def _states(self, learners: Mapping[str, Learner]) -> dict[str, bytes]:
        """The state of the ordering and of other learners, by section.

        A learner whose state cannot be written is left out, and will learn from all lines again.
        """
        states = {}
        if self._with_ordering and not self._feed.judgments:
            with suppress(Unfit):
                states[ORDERING] = learned_state.dump(self._ordering)
        for name, learner in learners.items():
            if (learned := learner.learned()) is not None:
                with suppress(Unfit):
                    states[name] = learned_state.dump_values(learned, learner.learned_classes)
        return states

    def _fit(self, name: str) -> str:
        return self._fits[ORDERING if name == ORDERING else ""]()

    # ------------------------------------------------------------ reading

    def read(self, now: float) -> Checkpoint | None:
        """Combine the files of before ``now``; None if none fits. A warning is added for a file that does not fit."""
        for draft in self._folder.path.glob(f"{NAME}.*.tmp"):  # left by a process that was killed
            draft.unlink(missing_ok=True)
        newer = self._try(self._newer, now)
        lines = newer.ordering_lines if newer else 0
        whole = self._try(self._whole, now, known=lines)
        if whole is None:
            return newer and newer._replace(place=START, links=START, others={})
        self._lines = whole.place.lines
        if newer is None or whole.ordering is not None or lines < whole.place.lines:
            return whole
        return whole._replace(ordering=newer.ordering, ordering_lines=lines)

    def refuse(self, name: str, damage: Exception) -> None:
        """Warn that the learner of this name cannot use its section of the checkpoint."""
        self._tell(damage, f"what {name} knows is learned again from all lines")

    def _tell(self, damage: object, consequence: str) -> None:
        warning = f"{self._whole.path} cannot be used ({damage}): {consequence}"
        if warning not in self._folder.warnings:  # both files may have the same fault
            self._folder.warnings.append(warning)

    def _try(self, file: ForkedFile, now: float, known: int = 0) -> Checkpoint | None:
        """The state in a file, with the ordering only if it has learned from more than ``known`` lines."""
        if not self._is_on or not file.path.exists():
            return None
        try:
            return self._read(file, now, known)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, Unfit) as damage:
            if file is self._whole:
                self._tell(damage, "all lines are learned again" if known else "all pages are read again")
            return None

    def _read(self, file: ForkedFile, now: float, known: int) -> Checkpoint:
        with file.path.open("rb") as data:
            head = orjson.loads(data.readline())
            if {name: head.get(name) for name in _FORMAT} != _FORMAT:
                raise ValueError("it was written by another version")
            sections = {each["name"]: (each, data.read(each["size"])) for each in head["sections"]}
        if any(each["digest"] != _digest(state) for each, state in sections.values()):
            raise ValueError("it is damaged")
        if head["at"] > now:
            raise ValueError("the clock was set back since it was written")
        place, links = TailPosition.from_json(head["place"]), TailPosition.from_json(head["links"])
        for log, behind in ((HISTORY, place), (LINKS, links)):
            if TailReader(self._folder.path / log, behind).restarted:
                raise ValueError("it belongs to another history")
        if not place.offset:
            raise ValueError("it belongs to no history")
        states = {name: state for name, (each, state) in sections.items() if self._is_fit(each)}
        ordering = states.pop(ORDERING, None)
        others = {
            name: learned_state.load_values(states[name], self._learners[name].learned_classes) for name in states
        }
        if ordering is None or place.lines <= known:
            return Checkpoint(place, links, None, 0, others)
        return Checkpoint(place, links, learned_state.load(ordering, self._ordering), place.lines, others)

    def _is_fit(self, section: Mapping[str, Any]) -> bool:
        """Whether a section fits the crawl as it is now; warn if it was made with other settings, topic or version."""
        name = section["name"]
        if name == ORDERING and (not self._with_ordering or self._feed.judgments):
            return False
        if name != ORDERING and name not in self._learners:
            return False
        if section["fits"] == self._fit(name):
            return True
        consequence = "all pages are read again" if name == ORDERING else f"{name} learns from all lines again"
        self._tell("it was made with other settings, another topic or another version", consequence)
        return False


def _fingerprint(
    topic: Topic, options: Options, parameters: Mapping[str, Any], prefixes: tuple[str, ...], *learners: type
) -> str:
    """A digest of what the state of ``learners`` depends on besides the history: settings with these ``prefixes``, and code."""
    settings = {
        name: value
        for name, value in options.model_dump().items()
        if name.startswith(prefixes) and not name.startswith(_OF_NOBODY)
    }
    asked = [topic.name, topic.keywords, topic.seeds, topic.language, topic.positive, topic.negative]
    names = [f"{learner.__module__}.{learner.__qualname__}" for learner in learners]
    who = [crawlproject.__version__, sys.version_info[:2], _sources(learners), names]
    return _digest(orjson.dumps([who, asked, settings, dict(parameters)], option=orjson.OPT_SORT_KEYS, default=str))


def _sources(learners: Iterable[type]) -> str:
    """A digest of the code of the learners and of their folders: a new attribute makes an older state unusable."""
    folders = {Path(sys.modules[learner.__module__].__file__ or "").parent for learner in learners}
    sources = sorted({path for folder in folders for path in folder.rglob("*.py*")})
    return _digest(b"".join(path.read_bytes() for path in sources if path.suffix in (".py", ".pyx")))


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
