"""The pages of a crawl: one record a page, or all of them as a table of Arrow, pandas or polars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlproject.exporting.selection import Selection, read_items
from crawlproject.extras import need

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A stored page, in its last version. The fields are those of an item (``docs/hand-over.md``).

    ``relevance``, ``score``, ``context_score`` and ``spam`` are 0 to 1 for most orderings, ``at`` is in seconds since 1970,
    ``parent`` the page that led here (None for a seed), ``published`` ``YYYY-MM-DD`` or empty. ``author`` and
    ``license`` are as the page states them, ``reserved`` the uses that it reserves. ``text_main`` is empty unless
    ``PAGE_MAIN_TEXT`` was set; ``rendered``: scripts made it. ``topics``: the relevance to each of several.
    """

    url: str
    title: str
    text: str
    text_main: str
    language: str
    relevance: float
    score: float
    depth: int
    parent: str | None
    anchor: str
    context_score: float
    status: int
    at: float
    md5: str
    published: str
    author: str
    license: str
    reserved: str
    parts: Mapping[str, float]
    duplicate_of: str
    replaces: str
    spam: float
    digest: str
    content_type: str
    rendered: bool
    topics: Mapping[str, float]
    version: int


_NAMES = tuple(field.name for field in fields(StoredPage))


class StoredPages:
    """The selected pages of a crawl folder in the order of the crawl, read anew each time that they are iterated."""

    def __init__(self, folder: Path, selection: Selection) -> None:
        self._folder = folder
        self._selection = selection

    def __iter__(self) -> Iterator[StoredPage]:
        """Raises ``BadCrawlDir`` for a damaged folder. One page at a time is in memory."""
        for item in read_items(self._folder, self._selection):
            yield StoredPage(**{name: item[name] for name in _NAMES})

    def chunks(self, *, words: int = 300, overlap: int = 0) -> Iterator[Mapping[str, Any]]:
        """The main content in chunks of at most so many words, as rows of ``scrapy export --to chunks``."""
        from crawlproject.exporting.chunks import read_chunks
        from crawlproject.exporting.markdown import StoredTexts

        return read_chunks(StoredTexts(self._folder, self._selection), words, overlap)

    def to_arrow(self) -> pyarrow.Table:
        """A table with a column for each field of ``StoredPage``; ``at`` is a time stamp, ``parts`` and ``topics`` are maps."""
        need("to_arrow()", "export", "pyarrow")
        from crawlproject.exporting.tables import arrow_table

        return arrow_table(read_items(self._folder, self._selection), _NAMES)

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a data frame of pandas, which must be installed (``pip install 'topical-crawler[frames]'``)."""
        need("to_pandas()", "frames", "pandas", "pyarrow")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """The table as a data frame of polars, which must be installed (``pip install 'topical-crawler[frames]'``)."""
        need("to_polars()", "frames", "polars", "pyarrow")
        import polars

        frame = polars.from_arrow(self.to_arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame
