"""The result of parsing an HTML document: its text, and its links with their contexts as ranges of that text.

The context of a link is the text under its aggregation node (paper 003 section 4.4), the ancestor a given number of levels
above it: all text in the subtree rooted there, at any depth. In document order that text is one contiguous range, so it is
known the moment the node closes: contexts cost one dictionary look-up per element and one step per link, however many links
share a node.

This module also defines what the parsers need to know of HTML: which attributes are read (``unread_attributes`` may remove
all others before parsing), and which elements a browser does not show, such as text for search engines only and menus
that open on a click. ``TextPieces`` collects the text while a document is read in Python.

A tag path says where in the tree of a page a link is: the path from the root to the link, with the ids and classes of the
elements. Links at the same place of a template serve the same purpose: a menu entry, a result in a list, a footer
(the arms of Gauquier and others 2025, SB-CLASSIFIER).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from crawlproject.errors import BadInput
from crawlproject.pages.html.head import NO_RULES, MetaRobots

ROOT = "root"
# Their content is not part of the visible page. libxml2 passes on the content of iframe, noembed and noframes as text,
# including the markup.
HIDDEN = frozenset(("head", "iframe", "noembed", "noframes", "noscript", "script", "style", "template", "title"))
# A word never continues across a tag of these elements: browsers render them as a new line, a new cell or an object. Every
# other element, known or not, is inline.
BREAKING = frozenset((
    "address", "article", "aside", "blockquote", "body", "br", "button", "center", "dd", "details", "dialog",
    "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frame", "frameset", "h1",
    "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "html", "img", "input", "legend", "li", "listing",
    "main", "menu", "nav", "object", "ol", "optgroup", "option", "p", "plaintext", "pre", "search", "section",
    "select", "summary", "table", "tbody", "td", "textarea", "tfoot", "th", "thead", "tr", "ul", "video",
    "xmp",
))  # fmt: skip
LINKS = frozenset(("a", "area", "frame"))
READ_OF_ALL = frozenset(("class", "hidden", "id", "style"))
READ = {  # by element, in addition to READ_OF_ALL
    "a": frozenset(("href", "rel")),
    "area": frozenset(("alt", "href", "rel")),
    "base": frozenset(("href",)),
    "frame": frozenset(("rel", "src")),
    "html": frozenset(("lang", "xml:lang")),
    "img": frozenset(("alt",)),
    "meta": frozenset(("content", "http-equiv", "itemprop", "name", "property")),
    "script": frozenset(("type",)),
    "time": frozenset(("datetime", "itemprop", "pubdate")),
}
OUTERMOST = 2  # elements, html and body, whose styles conceal nothing: scripts show a page that is hidden whole
MAX_PATH = 400  # characters of a tag path that are kept, from the link upwards

_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*+0*+\.?[01]?(?:px|pt|em|rem|%)?\s*+(?:;|!|$)"
    r"|opacity\s*:\s*+0*+(?:\.0*+)?\s*+(?:;|!|$)|text-indent\s*:\s*-\d{3,}|(?:left|top|margin-left|margin-top)\s*:\s*-\d{3,}"
    r"|clip\s*:\s*rect\(\s*0|(?<![\w-])(?:max-)?(?:height|width)\s*:\s*0(?:px)?\s*(?:;|$)"
)
_COLOURS = re.compile(r"(?<![-\w])(background-color|background|color)\s*:\s*([^;!]{1,40})")
_RULE = re.compile(r"\.([\w-]{1,60})\s*\{([^{}]{0,300})\}")
_LONGEST_SHEET = 20_000
_LONGEST_STYLE = 2_000  # characters of an attribute
_NAMES = {"white": "fff", "black": "000", "#ffffff": "fff", "#000000": "000", "#fff": "fff", "#000": "000"}
_DIGITS = re.compile(r"\d+")
_Element = tuple[str, Mapping[str, str]]


class RawLink(NamedTuple):
    """A link as written: ``href`` is neither absolute nor canonical.

    ``anchor`` and ``context`` are ranges ``[start, end)`` of ``Document.text``: the text inside the link, and the text
    inside its aggregation node. ``tag_path`` is described in ``TagPaths``.
    """

    href: str
    anchor: tuple[int, int]
    context: tuple[int, int]
    nofollow: bool
    tag_path: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed HTML document.

    ``text`` is the visible text in document order, with white space as in the source, an additional line feed wherever an
    element breaks the line, and no white space at its ends. ``title`` has its white space folded. ``language`` is the
    two-letter code of ``<html lang>``, or empty. ``published`` is the day of publication as ``YYYY-MM-DD``, or empty.
    ``author`` and ``license`` come from the head and JSON-LD (``Statements``). ``base`` is the absolute URL against which
    relative links are resolved. ``concealed`` has the ranges ``[start, end)`` of ``text`` that a browser does not show, in
    order. ``redirect`` is the target, as written, of an immediate redirect (an instant refresh, or a script that does
    nothing else). ``robots`` holds the rules of ``<meta name="robots">``. ``encoding`` is a Python codec name.
    ``links_dropped`` counts links beyond the cap; ``truncated`` is True if text or tags beyond a cap were left out.
    """

    title: str = ""
    text: str = ""
    language: str = ""
    published: str = ""
    author: str = ""
    license: str = ""
    links: tuple[RawLink, ...] = ()
    concealed: tuple[tuple[int, int], ...] = ()
    redirect: str = ""
    base: str = ""
    robots: MetaRobots = NO_RULES
    encoding: str = "utf-8"
    links_dropped: int = 0
    truncated: bool = False


class AggregationNodes:
    """Follows the open elements of a document and finds the anchor and the context of each link, in any unit of position.

    ``level`` is the number of steps from the link up to its aggregation node: 0 is the link itself, 1 its parent (the
    paper's choice), ``"root"`` the whole document. A level above the outermost element means that element. Raises
    ``BadInput`` for any other level.

    ``starts`` holds the start position of each open element, outermost first: to open an element, append to it.
    ``waiting`` maps the depth of each open element that is an aggregation node to the links of that node. An element at
    any other depth may be closed by removing its start, which saves a call on the hot path.
    ``anchors`` and ``contexts`` hold a range ``[start, end)`` for each link, in the order of the links.
    """

    __slots__ = ("anchors", "contexts", "level", "starts", "waiting")

    def __init__(self, level: int | str = 1) -> None:
        if level == ROOT:
            self.level: int | None = None
        elif isinstance(level, int) and level >= 0:
            self.level = level
        else:
            raise BadInput("aggregation level", f'expected a number from 0 up or "{ROOT}", not {level!r}')
        self.waiting: dict[int, list[int]] = {}
        self.starts: list[int] = []
        self.anchors: list[tuple[int, int]] = []
        self.contexts: list[tuple[int, int]] = []

    def link(self) -> int:
        """Register the innermost open element as a link and return its number, from 0."""
        number = len(self.contexts)
        starts, waiting = self.starts, self.waiting
        here = (starts[-1], starts[-1])
        self.anchors.append(here)
        self.contexts.append(here)
        if self.level is not None:
            depth = max(1, len(starts) - self.level)
            if depth in waiting:
                waiting[depth].append(number)
            else:
                waiting[depth] = [number]
        return number

    def leave(self, position: int) -> None:
        """Close the innermost open element."""
        numbers = self.waiting.pop(len(self.starts), ())
        start = self.starts.pop()
        for number in numbers:
            self.contexts[number] = (start, position)

    def finish(self, position: int) -> None:
        """End the document: close every open element."""
        while self.starts:
            self.leave(position)
        if self.level is None:
            self.contexts = [(0, position)] * len(self.contexts)


def conceals(style: str) -> bool:
    """Whether a ``style`` attribute makes its element invisible: not displayed, without size, off screen, or of one colour."""
    style = style[:_LONGEST_STYLE].lower()
    if _HIDING.search(style):
        return True
    if "color" not in style:
        return False
    colours = {name.removesuffix("-color"): _plain(value) for name, value in _COLOURS.findall(style)}
    return "color" in colours and colours["color"] == colours.get("background")


def concealing_classes(sheet: str) -> frozenset[str]:
    """Return the classes that a ``<style>`` sheet hides by a rule for that class alone."""
    if ("none" not in sheet and "hidden" not in sheet) or len(sheet) > _LONGEST_SHEET:
        return frozenset()
    rules = _RULE.findall(sheet)
    return frozenset(
        name for name, declarations in rules if re.search(r"display\s*:\s*none|visibility\s*:\s*hidden", declarations)
    )


def is_concealed(attributes: Mapping[str, str], classes: frozenset[str]) -> bool:
    """Whether an element with these attributes is hidden, as far as that can be known without a browser."""
    style = attributes.get("style")
    if style and conceals(style):
        return True
    if "hidden" in attributes:
        return True
    return bool(classes) and not classes.isdisjoint(attributes.get("class", "").split())


def _plain(colour: str) -> str:
    colour = colour.strip().lower()
    return _NAMES.get(colour, colour)


class TextPieces(list[str]):
    """Pieces of text in the order of arrival; ``append`` costs no Python call. A position is a number of pieces."""

    def since(self, start: int) -> str:
        return "".join(self[start:])

    def cut(self, start: int) -> None:
        """Remove all pieces from the position ``start`` on."""
        del self[start:]

    def finish(self, most: int) -> tuple[str, list[int]]:
        """Return the text, and for each position the number of characters before it, ``most`` at most.

        White space at both ends is removed: outside the outermost element there is nothing else, and a tree does not have it.
        """
        whole = "".join(self)
        text = whole.strip()
        skipped, most = len(whole) - len(whole.lstrip()), min(len(text), most)
        at = list(accumulate(map(len, self), initial=-skipped))
        for outside, limit in (slice(bisect_left(at, 0)), 0), (slice(bisect_right(at, most), None), most):
            at[outside] = [limit] * len(at[outside])
        return text, at


class TagPaths:
    """Follows the open elements of a document. ``elements`` holds the tag and the attributes of each, outermost first.

    The path of an element is built for the first link below it, so that the cost grows with the number of elements, however
    many links share ancestors.
    """

    __slots__ = ("_known", "_paths", "elements")

    def __init__(self) -> None:
        self.elements: list[_Element] = []
        self._paths: list[tuple[_Element, str]] = []
        self._known: dict[str, str] = {}

    def path(self) -> str:
        """Return the path of the innermost open element: labels separated by spaces, at most ``MAX_PATH`` characters."""
        elements, paths = self.elements, self._paths
        shared = min(len(elements), len(paths))
        while shared and paths[shared - 1][0] is not elements[shared - 1]:
            shared -= 1
        del paths[shared:]
        path = paths[-1][1] if paths else ""
        for element in elements[shared:]:
            path = f"{path} {_label(*element)}"[-MAX_PATH:]
            paths.append((element, path))
        path = path.lstrip()
        return self._known.setdefault(path, path)  # equal paths are one string


def _label(tag: str, attributes: Mapping[str, str]) -> str:
    return label(tag, attributes.get("id", ""), attributes.get("class", "")) if attributes else tag


@lru_cache(maxsize=10_000)
def label(tag: str, identity: str, classes: str) -> str:
    """Return ``tag#id.class.class``. Numbers become 0, since they distinguish items, not places."""
    identity = "-".join(identity.split())
    place = (f"#{identity}" if identity else "") + "".join([f".{name}" for name in sorted(classes.split())])
    return tag + _DIGITS.sub("0", place)
