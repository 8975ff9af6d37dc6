"""Finds and reads the examples of a topic: pages from which orderings learn before the crawl.

A file is read from disk. A URL is not fetched, because only the crawl itself uses the network; it is looked up among the
stored pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from crawlproject.errors import BadTopic
from crawlproject.pages.reader import Reader
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import Page, Topic

Lookup = Callable[[str], Page | None]


class ExampleReader:
    """Finds the entries of ``examples.positive`` and ``examples.negative``.

    ``canonicalize`` is the canonicalizer of this crawl. ``lookups`` are tried in order for the page at a canonical URL.
    """

    def __init__(
        self, reader: Reader, judge: TopicJudge, canonicalize: Callable[..., str], lookups: Iterable[Lookup]
    ) -> None:
        self._reader = reader
        self._judge = judge
        self._canonicalize = canonicalize
        self._lookups = list(lookups)

    def positive(self, topic: Topic) -> tuple[Page, ...]:
        """The judged on-topic pages, in the order of the topic file. Raises ``BadTopic``."""
        return self._read("positive", topic.positive)

    def negative(self, topic: Topic) -> tuple[Page, ...]:
        """The judged off-topic pages, in the order of the topic file. Raises ``BadTopic``."""
        return self._read("negative", topic.negative)

    def found(self, urls: Iterable[str]) -> tuple[Page, ...]:
        """The judged pages at canonical URLs. URLs that no lookup finds are left out."""
        pages = (next(filter(None, (lookup(url) for lookup in self._lookups)), None) for url in urls)
        return tuple(page for page in pages if page is not None)

    def _read(self, side: str, entries: Sequence[str]) -> tuple[Page, ...]:
        return tuple(self._page(f"examples.{side}[{number}]", entry) for number, entry in enumerate(entries))

    def _page(self, place: str, entry: str) -> Page:
        return self._page_at_url(place, entry) if "://" in entry else self._page_in_file(place, Path(entry))

    def _page_in_file(self, place: str, path: Path) -> Page:
        """Read a file as a page with a ``file:`` URL, whose relative links lead nowhere."""
        try:
            body = path.read_bytes()
        except OSError as error:
            raise BadTopic(place, f"{str(path)!r} cannot be read: {error.strerror}") from None
        content_type = "text/plain" if path.suffix.lower() == ".txt" else ""
        return self._judge.judge(self._reader.read(path.resolve().as_uri(), body, content_type=content_type))

    def _page_at_url(self, place: str, entry: str) -> Page:
        url = self._canonicalize(entry)
        for lookup in self._lookups:
            page = lookup(url)
            if page is not None:
                return page
        raise BadTopic(
            place,
            f"{url} is neither in ORDERING_ARCHIVE, nor in VIRTUAL_WEB, nor in the crawl folder; "
            "name a web that contains it, or save the page and name its file instead",
        )
