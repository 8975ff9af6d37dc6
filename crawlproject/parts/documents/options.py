"""Setting of the part: how long a document may be. ``PAGE_CONTENT_TYPES`` says which kinds are read."""

from __future__ import annotations

from crawlproject.options import Options, Positive


class DocumentOptions(Options):
    """Documents other than HTML."""

    page_document_bytes: Positive = 20_971_520
    """bytes | largest [document](page-content.md#documents) (PDF, DOCX, EPUB) that is read; `PAGE_MAX_BYTES` then
    limits its text"""
