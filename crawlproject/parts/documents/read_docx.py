"""Reads DOCX (Office Open XML, ISO/IEC 29500) into a ``HtmlDraft`` with python-docx; keeps headings, lists, tables and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from typing import Any

from crawlproject.parts.documents.html_draft import HtmlDraft, Inline
from crawlproject.parts.documents.zipped import checked

_HEADING = re.compile(r"heading (\d)")
_DIVIDED = re.compile(r"\s*;\s*")


def read(body: bytes, draft: HtmlDraft) -> None:
    """Read ``body`` into ``draft``. Raises ``Unreadable``, and whatever python-docx raises for a broken document."""
    from docx import Document
    from docx.table import Table

    checked(body).close()
    document = Document(BytesIO(body))
    with suppress(Exception):  # metadata may be broken while the text is not
        said = document.core_properties
        draft.title, draft.language = said.title, said.language
        draft.authors = _DIVIDED.split(said.author) if said.author != "python-docx" else []
        draft.published = (said.created or said.modified).date().isoformat()
    for block in document.iter_inner_content():
        if isinstance(block, Table):
            draft.table(_rows(block))
        else:
            _add(block, draft)


def _add(paragraph: Any, draft: HtmlDraft) -> None:
    style = ""
    with suppress(Exception):  # a style that the document does not define
        style = (paragraph.style.name or "").lower()
    inlines = _inlines(paragraph)
    if found := _HEADING.match(style):
        draft.heading(int(found[1]), inlines)
    elif style == "title":
        draft.heading(1, inlines)
    elif style.startswith("list") or _is_numbered(paragraph):
        draft.item(inlines)
    else:
        draft.paragraph(inlines)


def _is_numbered(paragraph: Any) -> bool:
    properties = paragraph._p.pPr
    return properties is not None and properties.numPr is not None


def _inlines(paragraph: Any) -> Iterator[Inline]:
    from docx.text.hyperlink import Hyperlink

    for inline in paragraph.iter_inner_content():
        yield (inline.url, inline.text) if isinstance(inline, Hyperlink) else inline.text


def _rows(table: Any) -> Iterator[Iterator[Iterator[Inline]]]:
    """The rows, from the XML elements: the tables of python-docx take time quadratic in the number of cells."""
    return (map(_cell, [(table, cell) for cell in row.tc_lst]) for row in table._tbl.tr_lst)


def _cell(found: tuple[Any, Any]) -> Iterator[Inline]:
    from docx.oxml.ns import qn
    from docx.text.paragraph import Paragraph

    table, cell = found
    for element in cell.iter(qn("w:p")):
        yield from _inlines(Paragraph(element, table))
        yield " "
