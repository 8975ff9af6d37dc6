"""The small logs of a crawl folder, beside its history and its items.

``changes.jsonl``: the changes of the pages of a collection, one line each, in the order in which they were seen; new pages
are only in the history. ``links.jsonl``: one line per link of a fetched page. ``robots.jsonl``: every robots.txt that a
crawl fetched, so that its rules can be applied again later. ``agents.json``: the agents of an ordering with several agents,
as they were when the crawl last ended.

``refused.json`` contains ``{"counts": {reason: n}, "samples": {reason: [[url, parent], ...]}}``, counts and samples of refused
URLs. A reason has the form ``component/rule``, for example ``trap/too_long`` or ``robots/forbidden``; ``n`` counts links, not
distinct URLs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import orjson

from crawlproject.errors import BadCrawlDir
from crawlproject.records import GONE, MOVED, Page
from crawlproject.storage.append_log import START, AppendLog, TailReader, read_lines, unexpected, write_atomically
from crawlproject.storage.warc.record import Exchange

CHANGES = "changes.jsonl"
RETIRED = "retired"  # by the crawl itself, which keeps a limited number of pages (``CRAWL_KEEP_PAGES``)
AWAY = (GONE, MOVED, RETIRED)  # states of pages that no longer belong to the collection
ROBOTS = "robots.jsonl"
MAX_ROBOTS = 512_000  # bytes recorded: the least that a parser must read (RFC 9309 section 2.5)
SAMPLES = 20  # samples kept per reason
SHOWN = 2000  # characters of a sample that are kept
AGENTS = "agents.json"


@dataclass(frozen=True, slots=True)
class PageChange:
    """One change of one page.

    ``change`` is that of ``Visit``, or ``RETIRED``. ``at`` is when the change was seen, in seconds since the epoch; it happened
    after ``since``, the previous visit. ``version`` counts the texts of the page; ``novelty``, 0 to 1, is the share of the
    present text that is new. ``added`` and ``removed`` are passages of this text and of the previous one. ``target`` is the URL
    to which a page moved.
    """

    url: str
    change: str
    at: float
    since: float
    number: int
    version: int
    title: str = ""
    relevance: float = 0.0
    novelty: float = 0.0
    target: str = ""
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


_FIELDS = frozenset(field.name for field in fields(PageChange))


class PageChangeLog:
    """Appends changes. Raises ``StorageFailed``.

    A line is written before the line of the history that commits it. If a crawl is killed between these writes, it visits the
    page again, so the change has two lines: readers take the last line of a page and version.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / CHANGES
        self._log: AppendLog | None = None

    def append(self, change: PageChange) -> None:
        if self._log is None:
            self._log = AppendLog(self._path)
        self._log.append(change)

    def close(self) -> None:
        if self._log is not None:
            try:
                self._log.sync()
            finally:
                self._log.close()


def read_changes(folder: Path) -> Iterator[PageChange]:
    """Stream the changes. Unknown fields are ignored. Raises ``BadCrawlDir`` for a damaged line."""
    path = folder / CHANGES
    for number, line in enumerate(read_lines(path), start=1):
        yield _change_of(line, f"{path}, line {number}")


class LatestChanges:
    """The latest ``most`` changes of a growing log, without repetitions."""

    def __init__(self, folder: Path, most: int) -> None:
        self._path = folder / CHANGES
        self._most = most
        self._place = START
        self._found: dict[tuple[str, int, bool], PageChange] = {}  # the latest last

    def read(self) -> list[PageChange]:
        """The changes in the log now, the latest first. Raises ``BadCrawlDir`` for a damaged line."""
        lines = TailReader(self._path, self._place)
        if lines.restarted:
            self._found.clear()
        for line in lines:
            change = _change_of(line, lines.here)
            key = change.url, change.number, change.change == RETIRED
            self._found.pop(key, None)  # a killed crawl may have written it twice
            self._found[key] = change
            if len(self._found) > self._most:
                del self._found[next(iter(self._found))]
        self._place = lines.place
        return list(reversed(self._found.values()))


def _change_of(line: Mapping[str, Any], place: str) -> PageChange:
    try:
        known = {name: value for name, value in line.items() if name in _FIELDS}
        known |= {name: tuple(known.get(name, ())) for name in ("added", "removed")}
        return PageChange(**known)
    except (AttributeError, TypeError) as damage:
        raise BadCrawlDir(place, f"expected the fields of a change: {damage}") from None


def link_lines(page: Page) -> list[dict[str, Any]]:
    """The lines of a page in ``links.jsonl``, one for each link, in page order."""
    return [
        {"source": page.url, "target": link.url, "anchor": link.anchor, "context_score": link.context_score}
        for link in page.links
    ]


class RobotsLog:
    """Writes lines ``{"url", "status", "at", "content_type", "location", "body"}``, with the body decoded as ISO 8859-1.

    The file is created with its first line. Raises ``StorageFailed``.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / ROBOTS
        self._log: AppendLog | None = None

    def begin(self) -> None:
        """Create the file now."""
        self._log = self._log or AppendLog(self._path)

    def append(self, url: str, status: int, at: float, *, content_type: str, location: str, body: bytes) -> None:
        """Record a decompressed response. ``content_type`` and ``location`` are its headers."""
        self._log = self._log or AppendLog(self._path)
        said = {"content_type": content_type, "location": location, "body": body[:MAX_ROBOTS].decode("latin-1")}
        self._log.append({"url": url, "status": status, "at": at, **said})

    def close(self) -> None:
        if self._log:
            self._log.close()
            self._log = None


def read_robots(folder: Path) -> Iterator[Exchange]:
    """The recorded responses, in order. Raises ``BadCrawlDir``."""
    path = folder / ROBOTS
    for number, line in enumerate(read_lines(path), start=1):
        try:
            headers = ((b"Content-Type", line["content_type"]), (b"Location", line["location"]))
            known = tuple((name, value.encode("latin-1", "replace")) for name, value in headers if value)
            yield Exchange(
                line["url"], int(line["status"]), known, line["body"].encode("latin-1", "replace"), line["at"]
            )
        except (AttributeError, KeyError, TypeError, ValueError) as damage:
            raise unexpected(path, number, damage) from None


NOFOLLOW = "page/nofollow"  # the reason for links of pages that ask not to be followed; the samples are these pages


class Refusals:
    """Counts and samples, kept in memory and saved with ``save``."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.counts: Counter[str] = Counter()
        self.samples: dict[str, list[tuple[str, str | None]]] = {}
        if path.exists():
            self._load()

    def add(self, reason: str, url: str, parent: str | None = None) -> None:
        """Count a refusal of ``url`` found on ``parent``."""
        self.counts[reason] += 1
        samples, shown = self.samples.setdefault(reason, []), url[:SHOWN]
        if len(samples) < SAMPLES and shown not in dict(samples):
            samples.append((shown, parent))

    def count(self, reason: str, n: int = 1) -> None:
        """Count refusals without a sample."""
        self.counts[reason] += n

    def save(self) -> None:
        """Write ``refused.json``. Raises ``StorageFailed``."""
        document = {"counts": dict(self.counts.most_common()), "samples": self.samples}
        write_atomically(self._path, [orjson.dumps(document, option=orjson.OPT_INDENT_2)], sync=False)

    def _load(self) -> None:
        try:
            document = orjson.loads(self._path.read_bytes())
            self.counts.update({reason: int(count) for reason, count in document["counts"].items()})
            self.samples.update({reason: [(u, p) for u, p in urls] for reason, urls in document["samples"].items()})
        except (OSError, KeyError, TypeError, ValueError, AttributeError) as damage:
            raise BadCrawlDir(str(self._path), f"expected refusal counts ({damage!r}); remove the file") from None


def write_agents(folder: Path, agents: Sequence[Mapping[str, Any]]) -> None:
    """Replace the file. Raises ``StorageFailed``."""
    write_atomically(folder / AGENTS, [orjson.dumps(agents, option=orjson.OPT_INDENT_2)])


def read_agents(folder: Path) -> list[dict[str, Any]]:
    """The agents; empty without a file. Raises ``BadCrawlDir``."""
    path = folder / AGENTS
    try:
        found = orjson.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, orjson.JSONDecodeError) as damage:
        raise unexpected(path, None, damage) from None
    if not isinstance(found, list) or not all(isinstance(agent, dict) for agent in found):
        raise unexpected(path, None, TypeError("a list of objects is expected"))
    return found
