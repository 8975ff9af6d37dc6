"""What workers of one crawl know of pages and listings that any of them may visit next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

from crawlproject.storage.collection import CollectedPage


class SharedPage(NamedTuple):
    """A page after its last visit, with the fields of ``CollectedPage`` but its row, which each worker counts for itself.

    ``holder`` is the worker that has stored this version, ``sketch`` that of its text, as written; empty: not known.
    """

    url: str
    depth: int
    state: str
    number: int
    version: int
    at: float
    changed: float
    weight: float
    digest: str
    etag: str
    last_modified: str
    holder: str
    sketch: str

    @classmethod
    def of(cls, page: CollectedPage, holder: str, sketch: str) -> Self:
        return cls.checked(*(getattr(page, name) for name in cls._fields[:-2]), holder, sketch)

    @classmethod
    def checked(cls, *values: Any) -> Self:
        """Raises ``TypeError`` and ``ValueError`` for values of another kind."""
        return cls(*_checked(_PAGE, values))

    def page(self, row: int) -> CollectedPage:
        """The page in a row of a collection."""
        return CollectedPage(row, *self[:-2])


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


_PAGE = (str, int, str, int, int, float, float, float, str, str, str, str, str)
_LISTING = (str, str, int, float, float, str, str)


def _checked(kinds: tuple[type, ...], values: tuple[Any, ...]) -> Iterator[Any]:
    return (kind(value) for kind, value in zip(kinds, values, strict=True))
