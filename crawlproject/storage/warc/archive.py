"""Archives the exchanges of a running crawl.

Responses wait in memory until their fetch ends, and are written just before its line in the history. So every page in the
history is in the archive, and a page that must not be stored (noarchive) is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import md5
from pathlib import Path
from typing import Any

from crawlproject.records import NOT_KEPT, Topic, Visit
from crawlproject.storage.warc.files import WarcFiles
from crawlproject.storage.warc.index import read_entries
from crawlproject.storage.warc.record import Exchange, WrittenRecord, reconstructed, warcinfo

FOLDER = "warc"
_MOST_WAITING = 1_000  # URLs with a response whose fetch has not ended: many times more than can be in flight
_MOST_RENDERED = 16  # rendered pages whose fetch has not ended, at most some megabytes each
_MOST_OF_ONE = 10  # waiting responses of one URL: retries, and redirects to variants of the URL

Load = Callable[[Visit], bytes]  # the stored body of a page


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """A page whose scripts were run: its ``body`` as received, decoded, and the exchanges that it caused."""

    body: bytes
    content_type: str
    exchanges: Sequence[Exchange]

    def about(self) -> list[tuple[str, str]]:
        """The fields of the page's ``metadata`` record; ``outlink`` is Heritrix's: URL, E for embedded, method."""
        asked = dict.fromkeys((exchange.url, exchange.method) for exchange in self.exchanges)
        return [("rendered", "true"), *(("outlink", f"{url} E {method}") for url, method in asked)]


class CrawlArchive:
    """The archive of one crawl in ``crawl_dir / "warc"``.

    ``load`` returns the stored body of a page; ``about`` holds the fields of ``warcinfo``, dated by ``clock``. ``name``,
    ``seed``, ``max_bytes`` and the errors raised are those of ``WarcFiles``.
    """

    def __init__(
        self,
        crawl_dir: Path,
        name: str,
        about: Mapping[str, object],
        load: Load,
        *,
        clock: Callable[[], float],
        seed: str,
        max_bytes: int,
    ) -> None:
        def describe(file: str, identity: str) -> WrittenRecord:
            return warcinfo(about, name=file, at=clock(), identity=identity)

        self._load = load
        self._files = WarcFiles(crawl_dir / FOLDER, name, describe, seed=seed, max_bytes=max_bytes)
        self.warnings = self._files.warnings  # losses found when the archive was opened
        self.add = self._files.append  # for a response that is not a fetch of the crawl, such as robots.txt
        self._waiting: dict[str, list[Exchange]] = {}
        self._rendered: dict[str, RenderedPage] = {}

    def received(self, url: str, exchange: Exchange) -> None:
        """Keep a response for the canonical URL until its fetch ends."""
        waiting = self._waiting.setdefault(url, [])
        others = [each for each in waiting if each.url != exchange.url]  # among retries, the last response counts
        waiting[:] = others[1 - _MOST_OF_ONE :]
        waiting.append(exchange)
        if len(self._waiting) > _MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]

    def rendered(self, url: str, rendering: RenderedPage) -> None:
        """Keep the rendering of the page at the canonical URL until its fetch ends."""
        self._rendered[url] = rendering
        if len(self._rendered) > _MOST_RENDERED:
            del self._rendered[next(iter(self._rendered))]

    def commit(self, visit: Visit) -> None:
        """Write the responses of a fetch that is about to enter the history.

        A page without a response, or whose response cannot be archived as received, is reconstructed from its stored body.
        The requests of a rendered page follow it. A page that asks not to be kept is not written.
        """
        waiting, rendering = self._waiting.pop(visit.url, []), self._rendered.pop(visit.url, None)
        if visit.error == NOT_KEPT:
            return
        if visit.md5:
            last = waiting[-1] if waiting and waiting[-1].status == visit.status else None
            for exchange in waiting[:-1]:
                self._files.append(exchange)
            waiting = [self._whole(last, visit, rendering)]
        about = rendering.about() if rendering else ()
        for exchange in waiting:
            self._files.append(exchange, key_of(visit), about)
        for exchange in rendering.exchanges if rendering else ():
            self._files.append(exchange)

    def _whole(self, exchange: Exchange | None, visit: Visit, rendering: RenderedPage | None) -> Exchange:
        """The exchange of a stored page: as received, if every reader can decode it."""
        if exchange is not None and exchange.can_be_undone():
            return exchange
        body = rendering.body if rendering else self._load(visit)  # a rendered page is stored otherwise than received
        if exchange is not None:
            return exchange.decoded(body)
        return reconstructed(replace(visit, content_type=rendering.content_type) if rendering else visit, body)

    def repair(self, visits: Iterable[Visit]) -> int:
        """Archive the stored pages among ``visits`` that are missing; return their number.

        Pages are missing if the archive was switched on during the crawl, or lost its end in a power failure.
        """
        there = {entry.key for entry in read_entries(self._files.folder) if entry.key}
        missing = 0
        for visit in visits:
            if visit.md5 and key_of(visit) not in there:
                try:
                    body = self._load(visit)
                except FileNotFoundError:  # the page file was removed
                    continue
                self._files.append(reconstructed(visit, body), key_of(visit))
                missing += 1
        return missing

    def close(self) -> None:
        """Close the files. Responses whose fetch did not end are dropped; their URLs will be fetched again."""
        self._waiting.clear()
        self._rendered.clear()
        self._files.close()


def key_of(visit: Visit) -> str:
    """The key of a fetch in the archive: 24 hexadecimal digits of a digest of the URL and the result."""
    again = f"#{visit.number}" if visit.number > 1 else ""  # an unchanged page has the same digest again
    return f"{_hash(visit.url)}{_hash(visit.digest + again)}"


def _hash(text: str) -> str:
    return md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:12]


def about(topic: Topic, settings: Mapping[str, Any], ordering: str) -> dict[str, object]:
    """The fields of ``warcinfo``: the software, the topic and the settings."""
    return {
        "software": "topical-crawler",
        "format": "WARC File Format 1.1",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "robots": "obey",
        "isPartOf": topic.name,
        "description": topic.description,
        "topic": {"name": topic.name, "keywords": topic.keywords, "seeds": topic.seeds, "language": topic.language},
        "ordering": ordering,
        "settings": dict(settings),
    }
