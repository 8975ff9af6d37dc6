"""What workers of one crawl know of pages and listings that any of them may visit next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, fields, replace
from typing import Any, NamedTuple, Self, get_type_hints

from crawlproject.parts.revisits.collection import CollectedPage


class SharedPage(NamedTuple):
    """A page after its last visit. Its row is -1: each worker counts rows for itself.

    ``holder`` is the worker that has stored this version, ``sketch`` that of its text, as written; empty: not known.
    """

    page: CollectedPage
    holder: str
    sketch: str

    @classmethod
    def of(cls, page: CollectedPage, holder: str, sketch: str) -> Self:
        return cls(replace(page, row=-1), holder, sketch)

    @classmethod
    def checked(cls, *values: Any) -> Self:
        """As ``values`` wrote it. Raises ``TypeError`` and ``ValueError`` for values of another kind."""
        *page, holder, sketch = _checked(_PAGE, values)
        return cls(CollectedPage(-1, *page), holder, sketch)

    def values(self) -> list[Any]:
        """The fields of the page but its row, then ``holder`` and ``sketch``."""
        return [*astuple(self.page)[1:], self.holder, self.sketch]


class SharedListing(NamedTuple):
    """A sitemap or feed after its last reading; ``interval`` in seconds, ``due`` in seconds since the epoch."""

    url: str
    kind: str
    depth: int
    interval: float
    due: float
    etag: str
    last_modified: str

    @classmethod
    def checked(cls, *values: Any) -> Self:
        """As ``SharedPage.checked``."""
        return cls(*_checked(_LISTING, values))


NAME = "revisits"  # of the part, in messages
COLLECTED, LISTED, RETIRED = "collected", "listed", "retired"  # what a message is about


def collected(page: SharedPage) -> list[Any]:
    """A page of the collection after its last visit, as a message."""
    return [COLLECTED, *page.values()]


def listed(listing: SharedListing) -> list[Any]:
    """A listing after its last reading, as a message."""
    return [LISTED, *listing]


def retired(url: str) -> list[Any]:
    """A page that has left the collection, as a message."""
    return [RETIRED, url]


_KINDS = get_type_hints(CollectedPage)
_PAGE = (*(_KINDS[field.name] for field in fields(CollectedPage)[1:]), str, str)
_LISTING = tuple(get_type_hints(SharedListing).values())


def _checked(kinds: tuple[type, ...], values: tuple[Any, ...]) -> Iterator[Any]:
    return (kind(value) for kind, value in zip(kinds, values, strict=True))
