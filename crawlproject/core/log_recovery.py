"""Restores lost lines of the item and link logs from the stored pages, before a crawl resumes.

Opening the folder cuts off last lines that the history does not know. This is the other direction: it restores lines that the
history knows, but that ``items.jsonl`` or ``links.jsonl`` has lost. It also removes lines in the middle whose history line was
removed by hand, as a message about a damaged line advises. Otherwise a page would have two items when it is fetched again, and
the links after it would not be found in their place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from crawlproject.core.replay import InStep
from crawlproject.core.services import Services
from crawlproject.errors import BadCrawlDir
from crawlproject.pages.text.printable import counted
from crawlproject.records import NOT_STORED, Page, Visit
from crawlproject.storage.append_log import ITEMS, read_lines
from crawlproject.storage.crawl_folder import SAVE_EVERY
from crawlproject.storage.logs import AWAY, RETIRED, link_lines, read_changes
from crawlproject.storage.page_files import item_fields, withdrawn
from crawlproject.storage.read import LINKS, REFUSED, read_visits

_NAMED = 5  # damaged lines that a message lists


def recover_logs(services: Services) -> None:
    """Complete the logs of a crawl folder, and report what was lost in ``CrawlFolder.warnings``.

    Existing lines that the history knows do not change. Raises ``BadCrawlDir`` and ``StorageFailed``.
    """
    folder, history = services.folder, services.folder.history
    if not folder.bodies:
        return
    retired = sum(change.change == RETIRED for change in read_changes(folder.path))
    for log, name, key, expected, recovery in (
        (folder.items, ITEMS, "url", history.items + retired, _ItemRecovery(services)),
        (folder.links, LINKS, "source", history.links, _LinkRecovery(services)),
    ):
        if log is None:
            continue
        path, lines = folder.path / name, log.count()
        damaged, what = log.damaged, f"{path} had lost lines"
        if damaged:
            which = ", ".join(map(str, damaged[:_NAMED])) + ", ..." * (len(damaged) > _NAMED)
            what = f"{path} was damaged in {counted(len(damaged), 'line')} ({which})"
        if lines > expected:
            is_known = _is_last_link(history.last_source) if log is folder.links else _is_last_item(history.last_item)
            lines -= log.trim(_Surplus(lines - expected, is_known))
        if lines > expected and not history.revisits:
            log.replace_all(found for url, found in _by(path, key, damaged) if history.has_line(url))
            folder.warnings.append(f"{path} had lines of pages that are not in the history: they were removed")
            lines, damaged = log.count(), ()
        if lines < expected or damaged:
            log.replace_all(recovery.lines(damaged))
            folder.warnings.append(recovery.message(what))
    if len(history) >= SAVE_EVERY and not (folder.path / REFUSED).exists():
        folder.warnings.append(f"{folder.path / REFUSED} is missing: refusals are counted from 0 again")


class _Surplus:
    """Decides whether a line stays: of the last ``most`` lines, those unknown to the history (``is_known``) are removed.

    They belong to a further visit whose history line was never written.
    """

    def __init__(self, most: int, is_known: Callable[[Mapping[str, Any]], bool]) -> None:
        self._left = most
        self._is_known = is_known

    def __call__(self, line: Mapping[str, Any]) -> bool:
        self._left -= 1
        return self._left < 0 or self._is_known(line)


def _is_last_link(source: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda link: link["source"] == source


def _is_last_item(last: tuple[str, float] | None) -> Callable[[Mapping[str, Any]], bool]:
    """The history does not record items that the crawl itself has retired, so these count as known."""
    return lambda item: item.get("state") == RETIRED or (item["url"], item["at"]) == last


class _Recovery(ABC):
    """Restores the lost lines of a log: ``made`` counts the pages whose lines were made again, ``gone`` those without a file."""

    name = ""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._folder = services.folder.path
        self.made = 0
        self.gone = 0

    @abstractmethod
    def lines(self, damaged: Container[int]) -> Iterator[Sequence[Any]]:
        """Yield all lines, with those that were lost or ``damaged`` made again."""

    def message(self, what: str) -> str:
        lost = f"; those of {self.gone} pages without a file are lost" if self.gone else ""
        return f"{what}: the {self.name} of {self.made} pages were rebuilt{lost}"

    def _page(self, visit: Visit) -> Page | None:
        services = self._services
        page = services.kinds[visit.kind].stored(visit, (), services.steps) if visit.md5 else None
        self.made += page is not None
        self.gone += page is None
        return page


class _ItemRecovery(_Recovery):
    name = "items"

    def lines(self, damaged: Container[int]) -> Iterator[Sequence[Any]]:
        items = (
            (url, [it for it in lines if not it.get("state")])
            for url, lines in _by(self._folder / ITEMS, "url", damaged)
        )
        there = InStep((url, found) for url, found in items if found)
        for visit in read_visits(self._folder):
            if not visit.md5:
                continue
            found: Any = there.of(visit.url)
            if not found and (page := self._page(visit)) is not None:
                found = [item_fields(page, visit)]
            yield found
        last = {change.url: change for change in read_changes(self._folder)}
        yield [
            withdrawn(change.url, change.at, change.version, change.change)
            for change in last.values()
            if change.change in AWAY
        ]


class _LinkRecovery(_Recovery):
    name = "links"

    def lines(self, damaged: Container[int]) -> Iterator[Sequence[Any]]:
        there = InStep(_by(self._folder / LINKS, "source", damaged))
        for visit in read_visits(self._folder):
            if not visit.links or not (visit.md5 or visit.error in NOT_STORED or visit.number > 1):
                continue
            found: Any = there.of(visit.url)
            if len(found) < visit.links and (page := self._page(visit)) is not None:
                found = link_lines(page)
            yield found


def _by(path: Any, key: str, without: Container[int]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the lines in groups of equal ``key``, leaving out the line numbers in ``without``."""
    try:
        for value, lines in groupby(read_lines(path, without=without), key=itemgetter(key)):
            yield value, list(lines)
    except (KeyError, TypeError) as damage:
        raise BadCrawlDir(str(path), f"expected objects with {key}, not {damage!r}") from None
