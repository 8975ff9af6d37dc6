"""Reads PDF into a ``HtmlDraft`` with pypdf: lines are joined to paragraphs, and link annotations become links."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from typing import Any, NamedTuple

from crawlproject.parts.documents.html_draft import HtmlDraft, Inline, Unreadable, folded, is_web

MAX_PAGES = 1_000
MAX_LINKS = 500  # of a page

_SHORT = 0.75  # of the usual line length: a shorter line ends its paragraph
_LONGEST_ANCHOR = 200  # characters
_HYPHENATED = re.compile(r"[^\W\d_][-\N{SOFT HYPHEN}\N{HYPHEN}]$")
_LIGATURES = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}  # ﬁ, ﬂ and the like
_DATE = re.compile(r"(?:D:)?\s*(\d{4})(\d{2})?(\d{2})?")
_DIVIDED = re.compile(r"\s*;\s*")


class _Area(NamedTuple):
    """A link to ``href`` and the rectangle in which it can be clicked, in points from the lower left."""

    href: str
    left: float
    bottom: float
    right: float
    top: float

    def holds(self, x: float, y: float) -> bool:
        return self.left - 2 <= x <= self.right and self.bottom - 2 <= y <= self.top


def read(body: bytes, draft: HtmlDraft) -> None:
    """Read ``body`` into ``draft``. Raises ``Unreadable``, and whatever pypdf raises for a broken document."""
    from pypdf import PdfReader

    reader = PdfReader(BytesIO(body))
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unreadable("document/encrypted")
    with suppress(Exception):  # metadata may be broken while the text is not
        _know(reader, draft)
    failures, number = 0, 0
    for number, page in enumerate(reader.pages, 1):
        if number > MAX_PAGES:
            break
        try:
            paragraphs = _page(page)
        except (MemoryError, Unreadable):
            raise
        except Exception:  # a single broken page
            failures += 1
            continue
        for inlines in paragraphs:
            draft.paragraph(inlines)
    if failures == number:
        raise Unreadable("document/broken")


def _know(reader: Any, draft: HtmlDraft) -> None:
    draft.language = str(reader.trailer["/Root"].get("/Lang") or "")
    said = reader.metadata or {}
    draft.title = str(said.get("/Title") or "")
    draft.authors = _DIVIDED.split(str(said.get("/Author") or ""))
    if found := _DATE.match(str(said.get("/CreationDate") or "")):
        draft.published = f"{found[1]}-{found[2] or '01'}-{found[3] or '01'}"


def _page(page: Any) -> list[list[Inline]]:
    """The paragraphs of a page."""
    areas: list[_Area] = []
    with suppress(Exception):
        areas = [*_areas(page)]
    if not areas:
        return [[text] for text in paragraphs(page.extract_text())]
    pieces: list[tuple[float, float, str]] = []

    def visit(text: str, matrix: Any, of_text: Any, *_: Any) -> None:
        if text.strip():
            a, b, c, d, e, f = matrix
            x, y = of_text[4], of_text[5]
            pieces.append((a * x + c * y + e, b * x + d * y + f, text))

    found: list[list[Inline]] = [[text] for text in paragraphs(page.extract_text(visitor_text=visit))]
    for area in areas:
        _link(area, [text for x, y, text in pieces if area.holds(x, y)], found)
    return found


def _areas(page: Any) -> Iterator[_Area]:
    for entry in (page.get("/Annots") or ())[:MAX_LINKS]:
        with suppress(Exception):
            note = entry.get_object()
            href = str(note["/A"].get_object()["/URI"])
            left, bottom, right, top = map(float, note["/Rect"])
            if is_web(href):
                yield _Area(href, min(left, right), min(bottom, top), max(left, right), max(bottom, top))


def _link(area: _Area, texts: list[str], found: list[list[Inline]]) -> None:
    """Make a link of the words in its area, or of its printed address; else add it without words, near them if possible."""
    words = folded(" ".join(texts)).translate(_LIGATURES)
    shown = area.href.removeprefix("mailto:").partition("://")[2]
    for anchor in (words, area.href, shown, shown.rstrip("/")):
        if not anchor or len(anchor) > _LONGEST_ANCHOR:
            continue
        for inlines in found:
            for number, inline in enumerate(inlines):
                if isinstance(inline, str) and (at := inline.find(anchor)) >= 0:
                    rest = inline[at + len(anchor) :]
                    inlines[number : number + 1] = [inline[:at], (area.href, anchor), rest]
                    return
    start = words[:30]
    near = next((inlines for inlines in found if start and any(start in part for part in inlines)), None)
    if near is None:
        found.append(near := [])
    near.append((area.href, ""))


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a page, joined from its printed lines; hyphenated words are made whole again."""
    lines = [" ".join(line.translate(_LIGATURES).split()) for line in text.splitlines()]
    lengths = sorted(map(len, filter(None, lines)))
    usual = lengths[len(lengths) * 9 // 10] if lengths else 0
    found: list[str] = []
    current = ""
    for line, following in zip(lines, [*lines[1:], ""], strict=False):
        if line and _HYPHENATED.search(line) and following[:1].islower():
            current += line[:-1]
            continue
        current += line
        if not line or len(line) < _SHORT * usual:
            found.append(current)
            current = ""
        else:
            current += " "
    return [paragraph for paragraph in map(str.strip, [*found, current]) if paragraph]
