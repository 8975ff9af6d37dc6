"""The subscriptions of a crawl on disk. They hold secrets: only the owner of the file may read it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from crawlproject.parts.revisits.subscription import Subscription
from crawlproject.storage.append_log import AppendLog, read_lines, unexpected

NAME = "websub.jsonl"
_SURPLUS = 1_000  # lines that are out of date, besides nine of each subscription, before the file is written anew


def read_subscriptions(folder: Path) -> list[Subscription]:
    """As the crawl in ``folder`` has left them. Raises ``BadCrawlDir`` for a damaged file."""
    found: dict[str, Any] = {}
    path = folder / NAME
    for line in read_lines(path):
        try:
            found[line["path"]] = line
        except (KeyError, TypeError) as damage:
            raise unexpected(path, None, damage) from None
    try:
        return [Subscription(**line) for line in found.values() if "feed" in line]
    except (IndexError, TypeError) as damage:
        raise unexpected(path, None, damage) from None


class SubscriptionLog:
    """A line for each change; the last one of a ``path`` counts. Methods raise ``StorageFailed``."""

    def __init__(self, folder: Path, known: Iterable[Subscription]) -> None:
        self._log = AppendLog(folder / NAME, private=True)
        self._known: dict[str, Subscription] = {each.path: each for each in known}
        self._write_anew()

    def note(self, subscription: Subscription) -> None:
        self._known[subscription.path] = subscription
        self._append(asdict(subscription))

    def forget(self, subscription: Subscription) -> None:
        self._known.pop(subscription.path, None)
        self._append({"path": subscription.path})

    def close(self) -> None:
        self._log.close()

    def _append(self, line: dict[str, Any]) -> None:
        self._log.append(line)
        self._lines += 1
        if self._lines > 10 * len(self._known) + _SURPLUS:
            self._write_anew()

    def _write_anew(self) -> None:
        self._log.replace_all([[asdict(each) for each in self._known.values()]])
        self._lines = len(self._known)
