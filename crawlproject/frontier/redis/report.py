"""What a worker reports about itself, so that all workers know when the crawl is over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass, field
from typing import Any

import orjson

from crawlproject.frontier.redis.crew import Heard, Id

_AT_WORK = 10.0  # seconds within which the report of a worker with hosts to visit changes; if not, no one waits for it


@dataclass(frozen=True, slots=True)
class Report:
    """``leases``: URLs that are being fetched, or asked for. ``lowest``: the lowest class that has an awake host. ``unsent``:
    groups of letters that no server has yet. ``applied``: the last entry of the worker's own inbox that its frontier has.
    ``sent``: for each other worker's inbox, the last entry that this worker wrote. ``is_away``: it has ended, and may come back.
    """

    waiting: int = 0
    leases: int = 0
    hosts: int = 0
    evicted: int = 0
    lowest: int | None = None
    unsent: int = 0
    applied: Id = (0, 0)
    sent: Mapping[str, Id] = field(default_factory=dict)
    is_away: bool = False

    def dump(self) -> bytes:
        """The report as the server stores it."""
        return orjson.dumps(astuple(self))

    @classmethod
    def load(cls, content: bytes) -> Report:
        """Read what ``dump`` wrote. Raises ``ValueError``, ``TypeError`` and ``IndexError``."""
        values: list[Any] = orjson.loads(content)
        *numbers, lowest, unsent, applied, sent, is_away = values
        waiting, leases, hosts, evicted = map(int, numbers)
        awake = None if lowest is None else int(lowest)
        entries = {str(worker): (int(entry[0]), int(entry[1])) for worker, entry in dict(sent).items()}
        read = int(applied[0]), int(applied[1])
        return cls(waiting, leases, hosts, evicted, awake, int(unsent), read, entries, bool(is_away))


class Colleagues:
    """The latest reports of the other workers."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._reports: dict[str, Report] = {}
        self._changed_at: dict[str, float] = {}  # when each report last changed
        self.pages = 0  # stored by the others
        self.lowest: int | None = None  # the lowest class in which one of their hosts is awake

    def hear(self, heard: Heard) -> None:
        """Take over the reports in a reply of the server."""
        for name, content in heard.reports.items():
            with suppress(ValueError, TypeError, IndexError):  # a report of another version
                report = Report.load(content)
                if report != self._reports.get(name):
                    self._reports[name], self._changed_at[name] = report, heard.time
        for name in self._reports.keys() - heard.members.joined.keys():
            del self._reports[name]
        self._reports.pop(self._name, None)
        self.pages = heard.pages_of_others
        self.lowest = min(self._awake(heard.time), default=None)

    def _awake(self, now: float) -> Iterator[int]:
        """The lowest awake class of each worker that is at work."""
        for name, report in self._reports.items():
            if report.lowest is not None and not report.is_away and now - self._changed_at[name] <= _AT_WORK:
                yield report.lowest

    def __iter__(self) -> Iterator[Report]:
        return (report for report in self._reports.values() if not report.is_away)

    def away(self) -> set[str]:
        """The workers that have ended, and may come back."""
        return {name for name, report in self._reports.items() if report.is_away}

    def are_over(self, own: Report) -> bool:
        """As ``is_over``, with ``own`` as the report of this worker."""
        return is_over({**self._reports, self._name: own})


def is_over(reports: Mapping[str, Report]) -> bool:
    """Whether no worker has anything left, and nothing is on its way.

    The reports are from different moments. But a worker that reported nothing left, and has something now, got it in a letter.
    The first such letter was sent before its sender's report, which therefore lists it, and applied after its receiver's
    report, which does not.
    """
    here = {name: report for name, report in reports.items() if not report.is_away}
    for report in here.values():
        if report.waiting or report.leases or report.unsent:
            return False
        for worker, entry in report.sent.items():
            if worker in here and here[worker].applied < entry:
                return False
    return True
