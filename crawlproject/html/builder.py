"""An lxml parser target that turns the events of a tidied tree into a ``Document``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from crawlproject.html.aggregation import AggregationNodes
from crawlproject.html.document import Document, RawLink
from crawlproject.html.robots import RobotsRules, robots_rules

# Their text is no part of what a reader of the page sees. libxml2 gives the content of iframe, noembed and noframes as
# unparsed mark-up.
_HIDDEN = frozenset("head iframe noembed noframes noscript script style template title".split())

# Elements that begin a new line, or a new cell, in a browser: a word does not run across their tags.
_BLOCKS = frozenset(
    (
        "address article aside blockquote body br button center dd details dialog dir div dl dt fieldset figcaption figure "
        "footer form frame frameset h1 h2 h3 h4 h5 h6 header hgroup hr html img input legend li listing main menu nav object ol "
        "optgroup option p plaintext pre search section select summary table tbody td textarea tfoot th thead tr ul video xmp"
    ).split()
)
_LINKS = frozenset(("a", "area", "frame"))

Attributes = Mapping[str, str]


class TooDeep(Exception):
    """The document is nested deeper than the cap: parsing ends here. Never leaves ``parse_document``."""


class DocumentBuilder:
    """Receives ``start``, ``data`` and ``end`` in document order, then gives the ``document``.

    White space is folded while text arrives: ``_gap`` is the white space owed before the next word, none, a space or a
    line feed. ``base`` is the ``href`` of the first ``<base>`` as written.
    """

    __slots__ = (
        *(
            "_alts",
            "_dropped",
            "_gap",
            "_hidden",
            "_hrefs",
            "_in_title",
            "_language",
            "_length",
            "_max_depth",
            "_max_links",
        ),
        *("_max_text", "_nodes", "_open_links", "_parts", "_robots", "_title", "_truncated", "base"),
    )

    def __init__(self, nodes: AggregationNodes, *, max_links: int, max_text: int, max_depth: int) -> None:
        self._nodes = nodes
        self._max_links = max_links
        self._max_text = max_text
        self._max_depth = max_depth
        self._parts: list[str] = []
        self._length = 0
        self._gap = ""
        self._hidden = 0
        self._in_title = False
        self._title: list[str] = []
        self._hrefs: list[tuple[str, bool]] = []
        self._open_links: list[int | None] = []
        self._alts: list[str] = []
        self._robots = RobotsRules()
        self._language = ""
        self._dropped = 0
        self._truncated = False
        self.base = ""

    def start(self, tag: str, attributes: Attributes) -> None:
        """An element opens."""
        if self._nodes.enter(self._length) > self._max_depth:
            self._truncated = True
            raise TooDeep
        if tag in _BLOCKS:
            self._gap = "\n"
        elif tag in _HIDDEN:
            self._hidden += 1
        opener = _OPENERS.get(tag)
        if opener is not None:
            opener(self, attributes)

    def end(self, tag: str) -> None:
        """The innermost element closes."""
        if tag in _LINKS:
            self._end_link()
        self._nodes.leave(self._length)
        if tag in _BLOCKS:
            self._gap = "\n"
        elif tag in _HIDDEN:
            self._hidden -= 1
            self._in_title = False

    def data(self, text: str) -> None:
        """Text of the innermost element."""
        if self._hidden:
            if self._in_title:
                self._title.append(text)
            return
        room = self._max_text - self._length - 1
        if len(text) > room:
            self._truncated = True
            text = text[: max(0, room)]
        words = text.split()
        if not words:
            self._gap = self._gap or " "
            return
        folded = " ".join(words)
        if self._length and (self._gap or text[0].isspace()):
            folded = (self._gap or " ") + folded
        self._parts.append(folded)
        self._length += len(folded)
        self._gap = " " if text[-1].isspace() else ""

    def close(self) -> None:
        """The input ends. lxml asks for this method."""

    def document(self, *, base: str, encoding: str) -> Document:
        """What was read, with every element that is still open closed here."""
        while self._open_links:
            self._end_link()
        self._nodes.finish(self._length)
        links = [
            RawLink(href, anchor, context, nofollow)
            for (href, nofollow), anchor, context in zip(
                self._hrefs, self._nodes.anchors, self._nodes.contexts, strict=True
            )
        ]
        return Document(
            title=" ".join("".join(self._title).split()),
            text="".join(self._parts),
            language=self._language,
            links=tuple(links),
            base=base,
            noindex=self._robots.noindex,
            nofollow=self._robots.nofollow,
            encoding=encoding,
            links_dropped=self._dropped,
            truncated=self._truncated,
        )

    def _start_html(self, attributes: Attributes) -> None:
        code = (
            (attributes.get("lang") or attributes.get("xml:lang") or "").strip().lower().replace("_", "-").split("-")[0]
        )
        if not self._language and len(code) == 2 and code.isascii() and code.isalpha():
            self._language = code

    def _start_title(self, attributes: Attributes) -> None:
        self._in_title = not self._title

    def _start_base(self, attributes: Attributes) -> None:
        self.base = self.base or attributes.get("href", "").strip()

    def _start_meta(self, attributes: Attributes) -> None:
        if attributes.get("name", "").strip().lower() == "robots":
            rules = robots_rules(attributes.get("content", ""))
            self._robots = RobotsRules(self._robots.noindex or rules.noindex, self._robots.nofollow or rules.nofollow)

    def _start_a(self, attributes: Attributes) -> None:
        self._start_link(attributes.get("href"), attributes)

    def _start_area(self, attributes: Attributes) -> None:
        self._start_link(attributes.get("href"), attributes)
        self._start_img(attributes)

    def _start_frame(self, attributes: Attributes) -> None:
        self._start_link(attributes.get("src"), attributes)

    def _start_link(self, href: str | None, attributes: Attributes) -> None:
        number = None
        if href is not None and not self._hidden:
            if len(self._hrefs) < self._max_links:
                rel = attributes.get("rel")
                self._hrefs.append((href.strip(), rel is not None and "nofollow" in rel.lower().split()))
                number = self._nodes.link()
                self._alts.clear()
            else:
                self._dropped += 1
        self._open_links.append(number)

    def _start_img(self, attributes: Attributes) -> None:
        if self._open_links and "alt" in attributes:
            self._alts.append(attributes["alt"])

    def _end_link(self) -> None:
        number = self._open_links.pop()
        if number is None:
            return
        start = self._nodes.anchors[number][0]
        if self._length == start and self._alts:
            self.data(" ".join(self._alts))
        self._alts.clear()
        self._nodes.anchors[number] = (start, self._length)


_OPENERS: dict[str, Callable[[DocumentBuilder, Attributes], None]] = {
    "a": DocumentBuilder._start_a,
    "area": DocumentBuilder._start_area,
    "base": DocumentBuilder._start_base,
    "frame": DocumentBuilder._start_frame,
    "html": DocumentBuilder._start_html,
    "img": DocumentBuilder._start_img,
    "meta": DocumentBuilder._start_meta,
    "title": DocumentBuilder._start_title,
}
