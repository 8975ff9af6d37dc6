"""Parses bytes into a ``Document``: lxml tidies broken HTML into one tree, which is read in document order.

There are two ways with the same result. If ``tree_walk`` was compiled, lxml builds a tree and compiled code walks over it;
if ``unread_attributes`` was compiled, too, attributes that are never read are removed before.
Otherwise elements are read while lxml finds them (its parser-target interface): no node is stored, and the caps end
the parsing itself. This second way also reads documents of which libxml2 builds no complete tree in linear time: libxml2
drops the rest of a page at a depth of 256 and white space between two root elements, and takes time quadratic in the
number of attributes of an element (20,000: seconds). Nothing here recurses, resolves external entities or uses the network.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import ada_url
from lxml import etree

from crawlproject.pages.html.document import Document, RawLink
from crawlproject.pages.html.document_builder import DocumentBuilder, TooDeep
from crawlproject.pages.html.encoding import as_utf8, media_type
from crawlproject.pages.text.printable import printable

try:
    from crawlproject.pages.html import tree_walk
except Exception:  # not built, in a zip file, or built for another lxml
    tree_walk = None  # type: ignore[assignment]
try:
    from crawlproject.pages.html.unread_attributes import without_unread
except Exception:  # as above
    without_unread = None  # type: ignore[assignment]

MAX_LINKS = 5_000
MAX_TEXT = 2_000_000
MAX_DEPTH = 512
_PIECE = 65_536  # bytes: parsing can be stopped only between two pieces
_TITLE_WITHIN = 2_000  # characters of plain text
_LONGEST_TITLE = 120
_WEB = ("http://", "https://")
_LARGEST_TREE = 1_000_000  # bytes; a tree takes up to 40 times the memory of its page


def parse_document(
    body: bytes,
    *,
    content_type: str = "",
    url: str = "",
    aggregation_level: int | str = 1,
    max_links: int = MAX_LINKS,
    max_text: int = MAX_TEXT,
    max_depth: int = MAX_DEPTH,
    tag_paths: bool = True,
    agent: str = "",
) -> Document:
    """Parse ``body``, the document at ``url`` that came with the HTTP header ``Content-Type: content_type``.

    Links are the ``href`` of ``a`` and ``area`` and the ``src`` of ``frame``. An ``iframe`` is a part of the page like
    an image, mostly a widget or an advertisement, and is not followed. The text of a link without text is the ``alt``
    of its images. ``aggregation_level`` is the level of ``AggregationNodes``. Without ``tag_paths`` the tag paths of links
    stay empty. ``agent`` is the name of this robot in meta tags. Plain text (any ``text/`` type except HTML and XML) is
    kept with its white space folded; its first line that is not blank is the title.

    Caps limit the cost of a hostile page: ``max_links`` links and ``max_text`` characters of text are kept, and reading
    ends at the first element nested deeper than ``max_depth``, because an unmatched end tag costs libxml2 time
    proportional to the depth. Malformed input raises nothing. Raises ``BadInput`` for a wrong ``aggregation_level``.
    """
    encoding, data = as_utf8(body, content_type)
    if b"\0" in data:  # browsers drop NUL from text; libxml2 would make an event of each
        data = data.replace(b"\0", b"")
    kind = media_type(content_type)
    if kind.startswith("text/") and kind not in ("text/html", "text/xml"):
        markup = data.decode("utf-8")
        text = " ".join(markup[:max_text].split())
        title = printable(next(filter(None, map(str.strip, markup[:_TITLE_WITHIN].splitlines())), ""))[:_LONGEST_TITLE]
        return Document(title=title, text=text, base=url, encoding=encoding, truncated=len(markup) > max_text)
    new_builder = partial(
        DocumentBuilder, aggregation_level, max_links=max_links, max_text=max_text, tag_paths=tag_paths, agent=agent
    )
    builder = new_builder()
    read = _read_tree(data, builder, max_depth)
    if read is None:
        builder = new_builder()
        read = _read_events(data, builder, max_depth)
    return builder.document(*read, base=_absolute(builder.base, url), encoding=encoding)


def _read_tree(data: bytes, builder: DocumentBuilder, max_depth: int) -> tuple[str, list[RawLink]] | None:
    """Return text and links of ``data``, or None if a tree may be incomplete; then ``builder`` must not be used any more."""
    if tree_walk is None or max_depth < tree_walk.MAX_DEPTH or len(data) > _LARGEST_TREE:
        return None
    if without_unread is not None:
        data = without_unread(data, builder.tag_paths)
    if tree_walk.is_crowded(data):
        return None
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False, no_network=True
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        return None
    return None if root is None else tree_walk.walk(root, builder)


def _read_events(data: bytes, builder: DocumentBuilder, max_depth: int) -> tuple[str, list[RawLink]]:
    builder.listen(max_depth)
    parser = etree.HTMLParser(target=builder, encoding="utf-8", huge_tree=True, no_network=True)
    with suppress(TooDeep):
        for start in range(0, len(data), _PIECE) or (0,):
            parser.feed(data[start : start + _PIECE])
        parser.close()
    return builder.read()


def _absolute(base: str, url: str) -> str:
    """Resolve ``base``, as written in the document at ``url``; return ``url`` if it is empty or no web URL."""
    try:
        joined = ada_url.join_url(url, base) if base else url
    except ValueError:
        return url
    return joined if joined.startswith(_WEB) else url
