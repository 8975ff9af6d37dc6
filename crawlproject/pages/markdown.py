"""The main content of a page as Markdown (CommonMark, with tables of GitHub Flavored Markdown).

Text never turns into markup: characters with a meaning in Markdown are escaped, ``<`` always, and only http, https and
mailto links are written as links. Data tables become tables; layout tables become text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote, urljoin

from crawlproject.pages.emphasis import CODE, EMPHASIS, STRONG, emphasised
from crawlproject.pages.html.encoding import decode
from crawlproject.pages.main_content import MAX_MARKUP, is_plain_text, marked_tree
from crawlproject.pages.text.printable import printable

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "button", "caption", "center", "dd", "details", "dialog",
    "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5",
    "h6", "header", "hr", "html", "legend", "li", "main", "menu", "nav", "ol", "option", "p", "pre", "section",
    "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
))  # fmt: skip
_PERMALINK = " \N{PILCROW SIGN}"  # of a heading, in documentation
_LISTS = ("ul", "ol", "menu", "dir")
_LEVELS = 10  # most nested lists and quotes that are indented: the output must not grow with the square of the depth
_LANGUAGE = re.compile(r"(?:^|[\s-])(?:lang|language|highlight|source)-([A-Za-z][\w+#.]{0,19})")
_MOST_COLUMNS = 40
_LONGEST_CELL = 300  # characters of a table of data
_PARTS = ("thead", "tbody", "tfoot")
_SPAN = re.compile(r"\s*\+?(\d{1,5})")  # further digits are ignored: no table has so many cells
_TO_THE_END = 100_000  # rows: ``rowspan="0"`` spans the rest of the table part
_STRONG = ("b", "strong")
_EMPHASIS = ("em", "i")
_CODE = ("code", "kbd", "samp", "tt", "var")
_BREAK = "\x01"  # stands for a line break until white space is folded
_CODES = re.compile("\x06([^\x07]*)\x07")
_OURS = re.compile("[\x01-\x07]")  # no text of a page has them
_CLOSING = re.compile(r"(?:^|(?<= ))(?=#+$)")  # what CommonMark reads as the closing sequence of a heading
_BLANKS = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "\u200b" + _BREAK
_SPECIAL = re.compile(r"[\\`*\[\]<]|(?<!\w)_|_(?!\w)|&(?=[A-Za-z#][\w#]{0,31};)|~(?=~)")
_SPACE = re.compile(r"[ \t\r\n\f\v\xa0\u200b]+")
_BLOCK_MARK = re.compile(r"(?m)^(?=#{1,6}(?:\s|$)|>|~{3}|[-+](?:\s|$)|[-=]+\s*$|\|)")
_NUMBER = re.compile(r"(?m)^(\d{1,9})(?=[.)](?:\s|$))")
_ITEM = re.compile(r"(?m)^(?:([-*])|\d{1,9}([.)])) ")  # the mark of an item: other lines of a list are indented
_OTHER_MARK = str.maketrans("-*.)", "*-).")
_LONGEST_HREF = 2_048


def markdown(body: bytes, *, url: str, content_type: str = "") -> str:
    """Return the main content of the page at ``url`` in Markdown, empty if there is none. ``content_type`` is the HTTP header.

    Plain text becomes a code block. Raises nothing; takes about a second at most.
    """
    _, markup = decode(body, content_type)
    if is_plain_text(content_type):
        return fenced(printable(markup[:MAX_MARKUP]).strip("\n"))
    root, kept = marked_tree(markup)
    if root is None or not kept:
        return ""
    base = next((element.get("href") or "" for element in root.iter("base")), "")
    return printable("\n\n".join(_Writer(root, kept, _joined(url, base)).blocks(root, 0)))


class _Writer:
    """Writes those texts of a marked tree (``marked_tree``) that begin with a character of ``kept``."""

    def __init__(self, root: Any, kept: frozenset[str], base: str) -> None:
        self._kept = kept
        self._inlines = Inlines(self._shown, base)
        self._containers = _elements_with_blocks(root)

    def blocks(self, element: Any, level: int) -> list[str]:
        """Return the blocks in an element, in document order. ``level`` is the number of open lists and quotes."""
        found: list[str] = []
        run: list[str] = [self._inlines.text(element.text)]
        for child in element:
            if child.tag in _BLOCKS or child in self._containers:
                self._end_run(run, found)
                found += self._block(child, level)
            else:
                run.append(self._inlines.element(child))
            run.append(self._inlines.text(child.tail))
        self._end_run(run, found)
        return _apart(found)

    def _end_run(self, run: list[str], found: list[str]) -> None:
        if paragraph := self._inlines.folded("".join(run)):
            found.append(escaped_line(paragraph))
        run.clear()

    def _block(self, element: Any, level: int) -> list[str]:
        tag = element.tag
        if tag in _HEADINGS:
            title = self._inlines.folded(self._inlines.inside(element)).replace("\n", " ").rstrip(_PERMALINK)
            return [f"{'#' * _HEADINGS[tag]} {_CLOSING.sub(chr(92) * 2, title)}"] if title else []
        if tag == "pre":
            code = self._code(element).strip("\n").rstrip()
            return [fenced(code, _language_of(element))] if code else []
        if tag in _LISTS and level < _LEVELS:
            return self._list(element, level)
        if tag == "blockquote" and level < _LEVELS:
            quoted = "\n\n".join(self.blocks(element, level + 1))
            return ["\n".join(f"> {line}".rstrip() for line in quoted.split("\n"))] if quoted else []
        if tag == "table":
            rows = table_rows(element)
            if rows and not any(cell in self._containers and _is_rich(cell) for row in rows for cell in row):
                texts = [["" if cell is None else " ".join(self.blocks(cell, level)) for cell in row] for row in rows]
                written = written_table(texts, rows)
                return [written] if written else []
        if tag == "dt":
            term = self._inlines.folded(self._inlines.inside(element)).replace("\n", " ")
            return [f"**{term}**"] if term and "**" not in term else [term][: len(term)]
        return self.blocks(element, level)

    def _list(self, element: Any, level: int) -> list[str]:
        start = element.get("start") or "1"
        number = int(start) if start.isascii() and start.isdigit() and len(start) < 8 else 1
        written: list[str] = []
        for blocks in self._items(element, level + 1):
            mark = f"{number}. " if element.tag == "ol" else "- "
            number += 1
            text = blocks[0]
            for block in _apart(blocks)[1:]:
                text += ("\n" if block.startswith(("- ", "* ", "1. ", "1) ")) else "\n\n") + block
            indent = " " * len(mark)
            written.append(mark + "\n".join(indent + line if line else "" for line in text.split("\n"))[len(mark) :])
        return ["\n".join(written)] if written else []

    def _items(self, element: Any, level: int) -> list[list[str]]:
        """Return the blocks of each item. Content between two items is an item too; a list there joins the item before it."""
        items: list[list[str]] = []
        run = [self._inlines.text(element.text)]
        for child in element:
            if child.tag in _BLOCKS or child in self._containers:
                items += self._between(run)
                blocks = self._block(child, level) if child.tag != "li" else self.blocks(child, level)
                if child.tag in _LISTS and items:
                    items[-1] += blocks
                elif blocks:
                    items.append(blocks)
            else:
                run.append(self._inlines.element(child))
            run.append(self._inlines.text(child.tail))
        return items + self._between(run)

    def _between(self, run: list[str]) -> list[list[str]]:
        blocks: list[str] = []
        self._end_run(run, blocks)
        return [blocks] if blocks else []

    def _code(self, element: Any) -> str:
        """Return the unescaped text of an element, with a line feed for each ``br``."""
        for line_break in element.iter("br"):
            line_break.text = "\n"
        return "".join(map(self._shown, element.itertext()))

    def _shown(self, text: str | None) -> str:
        """Return a text of the tree without its mark, or nothing if it is not main content. White space has no mark."""
        if not text or text.isspace():
            return text or ""
        return text[1:] if text[0] in self._kept else ""


def _apart(blocks: list[str]) -> list[str]:
    """Give each list that directly follows one with the same marks the other marks: CommonMark would read both as one list."""
    for at in range(1, len(blocks)):
        mark, before = map(_ITEM.match, blocks[at - 1 : at + 1])
        if mark and before and mark.groups() == before.groups():
            blocks[at] = _ITEM.sub(lambda found: found[0].translate(_OTHER_MARK), blocks[at])
    return blocks


def _elements_with_blocks(root: Any) -> frozenset[Any]:
    """Return the elements that contain a block at any depth, in linear time."""
    found: set[Any] = set()
    for element in root.iter(*_BLOCKS):
        above = element.getparent()
        while above is not None and above not in found:
            found.add(above)
            above = above.getparent()
    return frozenset(found)


def _is_rich(cell: Any) -> bool:
    """Whether a table cell contains something that a Markdown cell cannot contain."""
    return next(cell.iter("table", "pre", "blockquote", *_LISTS, *_HEADINGS), None) is not None


def _language_of(element: Any) -> str:
    inner = element[0].get("class") if len(element) else None
    outer = element.getparent()
    names = (element.get("class"), inner, outer.get("class") if outer is not None else None)
    found = next(filter(None, (_LANGUAGE.search(name) for name in names if name)), None)
    return found[1].lower() if found else ""


def _joined(url: str, href: str) -> str:
    try:
        return urljoin(url, href)
    except ValueError:
        return url


def table_rows(table: Any) -> list[list[Any]]:
    """Return the cells of a data table (two rows and columns or more), None where a cell spans on; empty for other tables."""
    rows: list[list[Any]] = []
    below = [0] * _MOST_COLUMNS  # rows to come that a cell covers, by column
    for part in table:
        if part.tag == "caption":
            return []  # Markdown has no captions: the table is written as text
        found = (part,) if part.tag == "tr" else part.iterchildren("tr") if part.tag in _PARTS else ()
        if part.tag in _PARTS:
            below = [0] * _MOST_COLUMNS  # no cell spans beyond its table part
        for row in found:
            covered, below = below, [left - (left > 0) for left in below]
            cells: list[Any] = []
            for cell in row.iterchildren("td", "th"):
                while len(cells) < _MOST_COLUMNS and covered[len(cells)]:
                    cells.append(None)
                if len(cells) >= _MOST_COLUMNS:
                    return []
                width = min(_span(cell, "colspan") or 1, _MOST_COLUMNS - len(cells))
                height = _span(cell, "rowspan") or _TO_THE_END
                below[len(cells) : len(cells) + width] = [height - 1] * width
                cells += [cell, *[None] * (width - 1)]
            while cells and cells[-1] is None:
                cells.pop()  # a cell that spans to the end of its row does not widen the table
            rows.append(cells)
    return rows if len(rows) > 1 and max(map(len, rows)) >= 2 else []


def _span(cell: Any, name: str) -> int:
    found = _SPAN.match(cell.get(name) or "1")
    return int(found[1]) if found else 1


def written_table(texts: Sequence[Sequence[str]], rows: Sequence[Sequence[Any]]) -> str:
    """Return a Markdown table with these cell texts, or plain blocks if a cell is longer than ``_LONGEST_CELL``.

    The first row is the header if all its cells are ``th`` or it is in a ``thead``.
    """
    filled = [(row, cells) for row, cells in zip(texts, rows, strict=True) if any(row)]
    if not filled or max(len(text) for row, _ in filled for text in row) > _LONGEST_CELL:
        return "\n\n".join(text for row, _ in filled for text in row if text)
    width = max(len(row) for row, _ in filled)
    first = [cell for cell in filled[0][1] if cell is not None]
    has_head = all(cell.tag == "th" for cell in first) or first[0].getparent().getparent().tag == "thead"
    lines = [row for row, _ in filled] if has_head else [[], *(row for row, _ in filled)]
    written = [_line(row, width) for row in lines]
    return "\n".join([written[0], "|" + " --- |" * width, *written[1:]])


def _line(row: Sequence[str], width: int) -> str:
    cells = [" ".join(text.replace("|", "\\|").split()) for text in row]
    return "| " + " | ".join(cells + [""] * (width - len(cells))) + " |"


class Inlines:
    """Writes the inline content of a paragraph. ``shown`` returns the part of a text of the tree to write."""

    def __init__(self, shown: Callable[[str | None], str], base: str) -> None:
        self._shown = shown
        self._base = base

    def text(self, text: str | None) -> str:
        return escaped(_OURS.sub("", self._shown(text))) if text else ""

    def inside(self, element: Any) -> str:
        """Return the inline content of an element, including its descendants."""
        pieces = [self.text(element.text)]
        for child in element:
            pieces.append(self.element(child))
            pieces.append(self.text(child.tail))
        return "".join(pieces)

    def element(self, element: Any) -> str:
        tag = element.tag
        if tag == "br":
            return _BREAK
        if tag in _CODE:
            text = _OURS.sub("", "".join(map(self._shown, element.itertext())))
            code = text.strip() and f"{CODE[0]}{text}{CODE[1]}"
            links = element.findall(".//a")  # in code there is no markup: a link goes around it
            target = self._target(links[0].get("href")) if len(links) == 1 and code else ""
            return f"[{code}]({target})" if target else code
        inside = self.inside(element)
        if tag in _STRONG:
            return _around(inside, *STRONG)
        if tag in _EMPHASIS:
            return _around(inside, *EMPHASIS)
        target = self._target(element.get("href")) if tag == "a" else ""
        return _around(inside, "[", f"]({target})") if target else inside

    def folded(self, text: str) -> str:
        """Fold white space, mark emphasis and code; each line break starts a new line."""
        lines = (line.strip() for line in _SPACE.sub(" ", text).split(_BREAK))
        marked = emphasised("  \n".join(filter(None, lines)))
        return _CODES.sub(
            lambda found: _code(found[1]), marked.replace(CODE[1] + CODE[0], "")
        )  # one code beside another is one

    def _target(self, href: str | None) -> str:
        """Return the absolute target of a link, safe to write; empty if it is no web or mail address, or inside the page."""
        if not href or href.lstrip().startswith("#") or len(href) > _LONGEST_HREF:
            return ""
        try:
            target = urljoin(self._base, href.strip())
        except ValueError:
            return ""
        if not target.startswith(("http://", "https://", "mailto:")):
            return ""
        return quote(target, safe="!#$%&'*+,/:;=?@[]~", errors="replace")


def escaped(text: str) -> str:
    """Escape ``text`` so that nothing in it is read as inline markup."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def escaped_line(paragraph: str) -> str:
    """Escape a paragraph so that no line is read as the start of a heading, list, quotation or table."""
    return _NUMBER.sub(r"\1\\", _BLOCK_MARK.sub(r"\\", paragraph))


def fenced(code: str, language: str = "") -> str:
    """Return a code block whose fence does not occur in the code."""
    longest = max(map(len, re.findall("`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{code}\n{fence}" if code else ""


def _code(text: str) -> str:
    text = _SPACE.sub(" ", text).strip()
    longest = max(map(len, re.findall("`+", text)), default=0)
    mark = "`" * (longest + 1)
    return f"{mark} {text} {mark}" if longest else f"{mark}{text}{mark}"


def _around(text: str, before: str, after: str) -> str:
    """Put marks around ``text``, inside its leading and trailing white space."""
    bare = text.strip(_BLANKS)
    if not bare:
        return text
    start = text.index(bare)
    return f"{text[:start]}{before}{bare}{after}{text[start + len(bare) :]}"
