"""The pages of a crawl, as one record per page or as one table of Arrow, pandas or polars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlproject.errors import BadInput
from crawlproject.exporting.selection import Selection, read_items
from crawlproject.extras import need

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


@dataclass(frozen=True, slots=True)
class StoredPage:
    """The latest version of a stored page. The fields are those of an item (``docs/hand-over.md``).

    ``relevance``, ``score``, ``context_score`` and ``spam`` are 0 to 1 for most orderings. ``at`` is in seconds since 1970.
    ``parent`` is the page that led here (None for a seed). ``published`` is ``YYYY-MM-DD`` or empty. ``author`` and
    ``license`` are as the page states them; ``reserved`` names the uses that it reserves. ``text_main`` is empty unless
    ``PAGE_MAIN_TEXT`` was set. ``rendered`` is true if a browser ran its scripts. ``topics`` has the relevance to each topic
    of a crawl with several.
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
    """The selected pages of a crawl folder in the order of the crawl. Every iteration reads them again."""

    def __init__(self, folder: Path, selection: Selection) -> None:
        self._folder = folder
        self._selection = selection

    def __iter__(self) -> Iterator[StoredPage]:
        """Yield the pages, with one page at a time in memory. Raises ``BadCrawlDir`` for a damaged folder."""
        for item in read_items(self._folder, self._selection):
            yield StoredPage(**{name: item[name] for name in _NAMES})

    def chunks(self, *, words: int = 300, overlap: int = 0) -> Iterator[Mapping[str, Any]]:
        """The main content in chunks of at most ``words`` words, as rows of ``scrapy export --to chunks``.

        Each chunk repeats at most ``overlap`` words of the chunk before. Raises ``BadInput``.
        """
        if not 0 <= overlap < words:
            raise BadInput(
                f"words {words} and overlap {overlap}", "expected at least 1 word, and an overlap of less than that"
            )
        from crawlproject.exporting.chunks import read_chunks
        from crawlproject.exporting.markdown import StoredTexts

        return read_chunks(StoredTexts(self._folder, self._selection), words, overlap)

    def to_arrow(self) -> pyarrow.Table:
        """A table with a column per field of ``StoredPage``; ``at`` is a timestamp, ``parts`` and ``topics`` are maps."""
        need("to_arrow()", "export", "pyarrow")
        from crawlproject.exporting.tables import arrow_table

        return arrow_table(read_items(self._folder, self._selection), _NAMES)

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas data frame; needs pandas (``pip install 'topical-crawler[frames]'``)."""
        need("to_pandas()", "frames", "pandas", "pyarrow")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """The table as a polars data frame; needs polars (``pip install 'topical-crawler[frames]'``)."""
        need("to_polars()", "frames", "polars", "pyarrow")
        import polars

        frame = polars.from_arrow(self.to_arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame
