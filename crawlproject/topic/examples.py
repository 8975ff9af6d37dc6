"""The examples of a topic, found and read: pages that orderings learn from before the crawl.

A file is read from the disk. A URL is not fetched, for a crawl has one way to the network and this is not it: it is
looked up in pages that are there already.
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

    ``canonicalize`` gives the spelling of this crawl. ``lookups`` are asked one after the other for the page at a
    canonical URL.
    """

    def __init__(
        self, reader: Reader, judge: TopicJudge, canonicalize: Callable[..., str], lookups: Iterable[Lookup]
    ) -> None:
        self._reader = reader
        self._judge = judge
        self._canonicalize = canonicalize
        self._lookups = list(lookups)

    def positive(self, topic: Topic) -> tuple[Page, ...]:
        """The pages on the topic, judged, in the order of the topic file. Raises ``BadTopic``."""
        return self._read("positive", topic.positive)

    def negative(self, topic: Topic) -> tuple[Page, ...]:
        """The pages off the topic, judged, in the order of the topic file. Raises ``BadTopic``."""
        return self._read("negative", topic.negative)

    def _read(self, side: str, entries: Sequence[str]) -> tuple[Page, ...]:
        return tuple(self._page(f"examples.{side}[{number}]", entry) for number, entry in enumerate(entries))

    def _page(self, place: str, entry: str) -> Page:
        return self._page_at_url(place, entry) if "://" in entry else self._page_in_file(place, Path(entry))

    def _page_in_file(self, place: str, path: Path) -> Page:
        """The URL of the page is the path of its file as a ``file:`` URL; relative links lead nowhere."""
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
            "name a web that holds it, or save the page and name its file instead",
        )
