"""What elements and attributes of HTML mean, for the text of a page and for the place of a link.

Which attributes anybody reads (``unread_attributes`` may leave out all others before a page is parsed); which elements a
browser does not show: text for search engines only, and menus that wait for a click; the text while it is read, in Python.

Tag paths say where in the tree of a page a link is. Links at like places of a template do like things: a menu entry, a
result of a list, a footer. The path from the root to the link, with the ids and classes of the elements, names such a place
(the arms of Gauquier and others 2025, SB-CLASSIFIER).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from functools import lru_cache
from itertools import accumulate

# Their content is no part of what a reader of the page sees. libxml2 hands on the content of iframe, noembed and
# noframes as text, mark-up and all.
HIDDEN = frozenset(("head", "iframe", "noembed", "noframes", "noscript", "script", "style", "template", "title"))
# A word does not run across the tags of these: they begin a new line or a new cell in a browser, or are a thing by
# themselves. Every other element, known or not, is inline.
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
READ = {  # by element, besides those of all
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
MAX_PATH = 400  # characters of a tag path that are kept, from the link upwards

_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0*\.?[01]?(?:px|pt|em|rem|%)?\s*(?:;|!|$)"
    r"|opacity\s*:\s*0*\.?0*\s*(?:;|!|$)|text-indent\s*:\s*-\d{3,}|(?:left|top|margin-left|margin-top)\s*:\s*-\d{3,}"
    r"|clip\s*:\s*rect\(\s*0|(?:height|width)\s*:\s*0(?:px)?\s*(?:;|$)"
)
_COLOURS = re.compile(r"(?<![-\w])(background-color|background|color)\s*:\s*([^;!]{1,40})")
_RULE = re.compile(r"\.([\w-]{1,60})\s*\{([^{}]{0,300})\}")
_LONGEST_SHEET = 20_000
_NAMES = {"white": "fff", "black": "000", "#ffffff": "fff", "#000000": "000", "#fff": "fff", "#000": "000"}
_DIGITS = re.compile(r"\d+")
_Element = tuple[str, Mapping[str, str]]


def conceals(style: str) -> bool:
    """Whether a ``style`` attribute makes an element that nobody sees: not shown, of no size, out of sight, or of one colour."""
    style = style.lower()
    if _HIDING.search(style):
        return True
    if "color" not in style:
        return False
    colours = {name.removesuffix("-color"): _plain(value) for name, value in _COLOURS.findall(style)}
    return "color" in colours and colours["color"] == colours.get("background")


def concealing_classes(sheet: str) -> frozenset[str]:
    """The classes that a ``<style>`` hides by a rule of their own."""
    if ("none" not in sheet and "hidden" not in sheet) or len(sheet) > _LONGEST_SHEET:
        return frozenset()
    rules = _RULE.findall(sheet)
    return frozenset(
        name for name, declarations in rules if re.search(r"display\s*:\s*none|visibility\s*:\s*hidden", declarations)
    )


def is_concealed(attributes: Mapping[str, str], classes: frozenset[str]) -> bool:
    """Whether an element with these attributes is not shown, as far as that can be known without a browser."""
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
    """Pieces of text, kept as they come: ``append`` costs no Python call. A position is a number of pieces."""

    def since(self, start: int) -> str:
        """The text from ``start`` on."""
        return "".join(self[start:])

    def cut(self, start: int) -> None:
        """Leave out all from ``start`` on."""
        del self[start:]

    def finish(self, most: int) -> tuple[str, list[int]]:
        """The text, and for each position the characters before it: at most ``most``.

        What stands outside the outermost element is white space, which a tree does not have: none is kept at the ends.
        """
        whole = "".join(self)
        text = whole.strip()
        skipped, most = len(whole) - len(whole.lstrip()), min(len(text), most)
        at = list(accumulate(map(len, self), initial=-skipped))
        for outside, limit in (slice(bisect_left(at, 0)), 0), (slice(bisect_right(at, most), None), most):
            at[outside] = [limit] * len(at[outside])
        return text, at


class TagPaths:
    """Follows the open elements of a document. ``elements`` has the tag and the attributes of each, outermost first.

    The path of an element is built when the first link below it asks, so that a document costs no more than its
    elements however many links share their ancestors.
    """

    __slots__ = ("_known", "_paths", "elements")

    def __init__(self) -> None:
        self.elements: list[_Element] = []
        self._paths: list[tuple[_Element, str]] = []
        self._known: dict[str, str] = {}

    def path(self) -> str:
        """The path of the innermost open element: labels divided by spaces, at most ``MAX_PATH`` characters."""
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
    """``tag#id.class.class``; numbers become 0, since they tell items apart and not places."""
    identity = "-".join(identity.split())
    place = (f"#{identity}" if identity else "") + "".join([f".{name}" for name in sorted(classes.split())])
    return tag + _DIGITS.sub("0", place)
