"""Every error that the project raises on purpose, in one tree.

    TopicalError
    ├── InvalidUrl          a URL that cannot be crawled
    ├── BadInput            wrong input of a person: the message names the place and the wish
    │   ├── BadTopic        a topic file
    │   ├── BadSetting      a setting
    │   ├── BadWeb          an archive, a folder of hosts, or a name of a virtual web
    │   ├── BadCrawlDir     a crawl folder that holds another crawl, or is damaged
    │   └── MissingExtra    a requested feature needs a package that is not installed
    ├── StorageFailed       the disk refused a write or a read; the crawl stops with its state saved
    │   └── ServerFailed    the server of the frontier failed; likewise
    ├── OutOfMemory         the memory is used up; the crawl stops with its state as on disk
    ├── Broken              a fault of the program in the middle of a step; likewise
    └── NoAnswer            a judge or a model does not know the answer

Commands turn ``BadInput`` into one message on standard error and exit code 2.
"""

from __future__ import annotations

import errno
from pathlib import Path

_FULL = (None, errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # None: a write was incomplete


class TopicalError(Exception):
    """Root of the tree."""


class InvalidUrl(TopicalError, ValueError):
    """A string that is not a URL that a crawler can fetch. ``url`` is the offending string."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(f"{url[:200]!r} is not a URL to crawl: {why}")
        self.url = url
        self.why = why


class BadInput(TopicalError, ValueError):
    """Wrong input of a person.

    ``place`` says where it is (a file, a field, a setting), ``wish`` says what would be right.
    """

    def __init__(self, place: str, wish: str) -> None:
        super().__init__(f"{place}: {wish}")
        self.place = place
        self.wish = wish


class BadTopic(BadInput):
    """A topic file that cannot be used."""


class BadSetting(BadInput):
    """A setting with a value that cannot be used."""


class BadWeb(BadInput):
    """A virtual web that cannot be opened."""


class BadCrawlDir(BadInput):
    """A crawl folder that holds another crawl, or is damaged. ``advice`` completes the message when it stops a crawl."""

    advice = "after that, run the same command to resume"


class MissingExtra(BadInput):
    """A requested feature needs a package that is not installed; the wish says how to install it."""


class StorageFailed(TopicalError, OSError):
    """The disk refused a write or a read (full, read-only, gone). ``advice`` says what to do, in the imperative."""

    @property
    def advice(self) -> str:
        is_full = getattr(self.__cause__, "errno", None) in _FULL
        return f"{'free some space' if is_full else 'see to the disk'} and run the same command to resume"


class ServerFailed(StorageFailed):
    """The server of a frontier is unreachable, refuses, or has lost the crawl."""

    advice = "run the same command to resume"


class OutOfMemory(TopicalError, MemoryError):
    """The memory is used up, or nearly so. ``advice`` says what to do, in the imperative."""

    advice = "give it more memory (docs/memory.md) and run the same command to resume"


class Broken(TopicalError):
    """An unexpected exception that no page caused. ``advice`` says what to do, in the imperative."""

    advice = "report the error above, and run the same command to resume"


class NoAnswer(TopicalError):
    """A judge or a model has no answer. ``reason`` is counted: a few words that contain neither the question nor a key.

    ``is_failure``: the judge or model may be out of order; after several of these, a judge is no longer asked.
    """

    def __init__(self, reason: str, *, is_failure: bool = True) -> None:
        super().__init__(reason)
        self.reason, self.is_failure = reason, is_failure


FATAL = StorageFailed, MemoryError, BadCrawlDir, Broken
"""What a crawl cannot go on after: its state is as the disk holds it."""


class trying_to:
    """A context in which an ``OSError`` becomes ``StorageFailed``: "cannot", the action, the place, and the error.

    A ``StorageFailed`` from inside, which names its own place, passes.
    """

    __slots__ = ("_action", "_place")

    def __init__(self, action: str, place: Path | str) -> None:
        self._action, self._place = action, place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError) and not isinstance(error, StorageFailed):
            raise StorageFailed(f"cannot {self._action} {self._place}: {error}") from error
