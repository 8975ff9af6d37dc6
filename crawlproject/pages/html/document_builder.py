"""Builds a ``Document`` from the elements of a tidied tree; the builder is an lxml parser target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from crawlproject.pages.html.document import (
    BREAKING,
    HIDDEN,
    LINKS,
    OUTERMOST,
    AggregationNodes,
    Document,
    RawLink,
    TagPaths,
    TextPieces,
    concealing_classes,
    is_concealed,
)
from crawlproject.pages.html.head import INSTANT, TDM, MetaRobots, refresh_of, reservation, robots_rules, script_target
from crawlproject.pages.html.statements import Statements
from crawlproject.pages.text.printable import printable

Attributes = Mapping[str, str]


class TooDeep(Exception):
    """The document is nested deeper than the cap: reading ends here. ``parse_document`` never raises it."""


class DocumentBuilder:
    """Builds a document from calls of ``start``, ``data`` and ``end`` in document order.

    Call ``listen`` first; after the last element call ``read``, then ``document``. ``level`` is the level of
    ``AggregationNodes``. ``base`` is the ``href`` of the first ``<base>`` as written. Without ``tag_paths`` the tag paths of
    links are empty. ``agent`` is the name, in lower case, by which a meta tag may address this robot. ``tree_walk`` handles
    text, links with their images, and elements without a meaning in the same way as ``start``, ``data``, ``end`` and
    ``read``: change both together.
    """

    def __init__(
        self, level: int | str, *, max_links: int, max_text: int, tag_paths: bool = True, agent: str = ""
    ) -> None:
        self.nodes = AggregationNodes(level)
        self.max_links = max_links
        self.max_text = max_text
        self._agent = agent
        self.text = TextPieces()
        self.data = self.text.append
        self.tag_paths = tag_paths
        self.hidden: list[int] = []  # where each open hidden element began
        self._title = ""
        self._hrefs: list[tuple[str, bool, str]] = []
        self._links: list[int | None] = []
        self._alts: list[str] = []
        self._robots = MetaRobots()
        self._language = ""
        self._refresh = ""
        self._redirect = ""
        self.classes: frozenset[str] = frozenset()  # that a style sheet of the page hides
        self.concealed: list[tuple[int, int]] = []  # ranges of the text that are not shown
        self._unscripted = False  # inside <noscript>
        self._said = Statements()
        self._linked_data = False  # whether the open script is JSON-LD
        self.dropped = 0
        self.too_deep = False
        self.base = ""

    def listen(self, max_depth: int) -> None:
        """Define ``start``, to be called when an element opens, and ``end``, to be called when the innermost one closes.

        Reading a page in Python spends most of its time in these two. So they are closures, which find what they need in
        local names, and they look at each tag once.
        """
        pieces, put, begins, tag_paths, paths = self.text, self.data, self.nodes.starts, self.tag_paths, TagPaths()
        self._path = paths.path if tag_paths else str
        open_at, close, elements = begins.append, begins.pop, paths.elements
        waiting, nodes = self.nodes.waiting, self.nodes
        concealed_at = 0  # depth of the outermost open element that is not shown, and where it began
        concealed_from = 0

        def start(tag: str, attributes: Attributes) -> None:
            nonlocal concealed_at, concealed_from
            if tag in BREAKING:
                put("\n")
            open_at(len(pieces))
            if (
                attributes
                and not concealed_at
                and len(begins) > OUTERMOST
                and ("style" in attributes or "hidden" in attributes or self.classes)
                and is_concealed(attributes, self.classes)
            ):
                concealed_at, concealed_from = len(begins), len(pieces)
            if tag_paths:
                elements.append((tag, attributes))
            if len(begins) > max_depth:
                self.too_deep = True
                raise TooDeep
            if tag in OPENERS:
                OPENERS[tag](self, attributes)

        def end(tag: str) -> None:
            nonlocal concealed_at
            if tag in CLOSERS:
                CLOSERS[tag](self, tag)
            if concealed_at and len(begins) == concealed_at:
                if not self.hidden:
                    self.concealed.append((concealed_from, len(pieces)))
                concealed_at = 0
            if waiting and len(begins) in waiting:
                nodes.leave(len(pieces))
            else:
                close()
            if tag_paths:
                elements.pop()
            if tag in BREAKING:
                put("\n")

        self.start, self.end = start, end

    def close(self) -> None:
        """End the input. lxml requires this method."""

    def read(self) -> tuple[str, list[RawLink]]:
        """Close every element that is still open and return text and links. Nothing can be received afterwards."""
        del self.start, self.end  # closures that refer to the builder: breaks the reference cycle
        if self.hidden:
            self.text.cut(self.hidden[0])
        while self._links:
            self._end_link("a")
        self.nodes.finish(len(self.text))
        text, at = self.text.finish(self.max_text)
        self.concealed = [(at[start], at[end]) for start, end in self.concealed]
        ranges = zip(self._hrefs, self.nodes.anchors, self.nodes.contexts, strict=True)
        return text, [
            RawLink(href, (at[a], at[b]), (at[c], at[d]), nofollow, path)
            for (href, nofollow, path), (a, b), (c, d) in ranges
        ]

    def document(self, text: str, links: Iterable[RawLink], *, base: str, encoding: str) -> Document:
        """Return the document with the ``text`` and the ``links`` that ``read`` returned."""
        refresh = [RawLink(self._refresh, (0, 0), (0, 0), False)] if self._refresh else ()
        return Document(
            title=self._title,
            text=text[: self.max_text],
            language=self._language,
            published=self._said.published.day,
            author=self._said.author,
            license=self._said.license,
            links=(*refresh, *links),
            concealed=tuple(self.concealed),
            redirect=self._redirect,
            base=base,
            robots=self._robots,
            encoding=encoding,
            links_dropped=self.dropped,
            truncated=self.too_deep or len(text) > self.max_text,
        )

    def _start_html(self, attributes: Attributes) -> None:
        tag = attributes.get("lang") or attributes.get("xml:lang") or ""
        code = tag.strip().lower().replace("_", "-").split("-")[0]
        if not self._language and len(code) == 2 and code.isascii() and code.isalpha():
            self._language = code

    def _start_base(self, attributes: Attributes) -> None:
        self.base = self.base or attributes.get("href", "").strip()

    def _start_meta(self, attributes: Attributes) -> None:
        name = attributes.get("name", "").strip().lower()
        if name == "robots" or (name and name == self._agent):
            self._robots |= robots_rules(attributes.get("content", ""), self._agent)
        elif attributes.get("http-equiv", "").strip().lower() == "refresh":
            target, seconds = refresh_of(attributes.get("content", ""))
            self._refresh = target or self._refresh
            if target and seconds <= INSTANT and not self._unscripted:
                self._redirect = self._redirect or target
        elif name == TDM:
            self._robots |= reservation(attributes.get("content", ""))
        else:
            self._said.meta(attributes)

    def _start_time(self, attributes: Attributes) -> None:
        self._said.published.time(attributes)

    def _start_script(self, attributes: Attributes) -> None:
        self._linked_data = attributes.get("type", "").strip().lower() == "application/ld+json"
        self._start_hidden(attributes)

    def _start_noscript(self, attributes: Attributes) -> None:
        self._unscripted = True
        self._start_hidden(attributes)

    def _start_hidden(self, attributes: Attributes) -> None:
        self.hidden.append(len(self.text))

    def _end_hidden(self, tag: str) -> None:
        start = self.hidden.pop()
        if tag == "title" and not self._title:
            self._title = printable(" ".join(self.text.since(start).split()))
        elif tag == "script" and self._linked_data:
            self._said.script(self.text.since(start))
        elif tag == "script" and len(self.text) > start and not self._redirect:
            self._redirect = script_target(self.text.since(start))
        elif tag == "style" and len(self.text) > start:
            self.classes |= concealing_classes(self.text.since(start))
        elif tag == "noscript":
            self._unscripted = False
        self.text.cut(start)

    def _start_a(self, attributes: Attributes) -> None:
        self._start_link(attributes.get("href"), attributes)

    def _start_area(self, attributes: Attributes) -> None:
        self._start_link(attributes.get("href"), attributes)
        self._start_img(attributes)

    def _start_frame(self, attributes: Attributes) -> None:
        self._start_link(attributes.get("src"), attributes)

    def _start_link(self, href: str | None, attributes: Attributes) -> None:
        number = None
        if href is None or self.hidden:
            pass
        elif len(self._hrefs) < self.max_links:
            rel = attributes.get("rel")
            nofollow = rel is not None and "nofollow" in rel.lower().split()
            self._hrefs.append((href, nofollow, self._path()))
            number = self.nodes.link()
            self._alts.clear()
        else:
            self.dropped += 1
        self._links.append(number)

    def _start_img(self, attributes: Attributes) -> None:
        if self._links and "alt" in attributes:
            self._alts.append(attributes.get("alt", ""))

    def _end_link(self, tag: str) -> None:
        number = self._links.pop()
        if number is None:
            return
        start = self.nodes.anchors[number][0]
        if self._alts:
            if not self.text.since(start).strip():
                self.data(" ".join(self._alts))
            self._alts.clear()
        self.nodes.anchors[number] = (start, len(self.text))


CLOSERS: dict[str, Callable[[DocumentBuilder, str], None]] = {
    **dict.fromkeys(HIDDEN, DocumentBuilder._end_hidden),
    **dict.fromkeys(LINKS, DocumentBuilder._end_link),
}
OPENERS: dict[str, Callable[[DocumentBuilder, Attributes], None]] = {
    **dict.fromkeys(HIDDEN, DocumentBuilder._start_hidden),
    "a": DocumentBuilder._start_a,
    "area": DocumentBuilder._start_area,
    "base": DocumentBuilder._start_base,
    "frame": DocumentBuilder._start_frame,
    "html": DocumentBuilder._start_html,
    "img": DocumentBuilder._start_img,
    "meta": DocumentBuilder._start_meta,
    "noscript": DocumentBuilder._start_noscript,
    "script": DocumentBuilder._start_script,
    "time": DocumentBuilder._start_time,
}
