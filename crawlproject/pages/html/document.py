"""What parsing leaves of an HTML document: its text, and its links as ranges of that text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from crawlproject.pages.html.meta_robots import NO_RULES, MetaRobots


class RawLink(NamedTuple):
    """A link as written: ``href`` is neither joined nor canonical.

    ``anchor`` and ``context`` are ranges ``[start, end)`` of ``Document.text``: the text inside the link, and that
    inside its aggregation node. ``tag_path`` is that of ``tag_path.TagPaths``.
    """

    href: str
    anchor: tuple[int, int]
    context: tuple[int, int]
    nofollow: bool
    tag_path: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """An HTML document, parsed.

    ``text`` is the visible text in document order, with white space as in the source and a line feed more wherever an
    element breaks the line, but none at its ends. ``title`` has its white space folded. ``language`` is the two-letter
    code of ``<html lang>``, or empty. ``published`` is the day of publication as ``YYYY-MM-DD``, or empty. ``base`` is
    the absolute URL that relative links are joined with. ``concealed`` counts the characters of ``text``, white space
    apart, that a browser does not show, and ``redirect`` is where it would go at once (an instant refresh, a script
    that does nothing else), as written. ``robots`` is what ``<meta name="robots">`` asks. ``encoding`` is a Python
    codec name. ``links_dropped`` counts links beyond the cap; ``truncated`` is True when text or tags beyond a cap were
    left out.
    """

    title: str = ""
    text: str = ""
    language: str = ""
    published: str = ""
    links: tuple[RawLink, ...] = ()
    concealed: int = 0
    redirect: str = ""
    base: str = ""
    robots: MetaRobots = NO_RULES
    encoding: str = "utf-8"
    links_dropped: int = 0
    truncated: bool = False
