"""Setting of the part: how long a document may be. ``PAGE_CONTENT_TYPES`` says which kinds are read."""

from __future__ import annotations

from crawlproject.options import Options, Positive


class DocumentOptions(Options):
    """Documents that are no HTML."""

    page_document_bytes: Positive = 20_971_520
    """bytes | of a [document](page-content.md#documents) (PDF, DOCX, EPUB) that are fetched; one that is longer is not read.
    `PAGE_MAX_BYTES` is then for its text"""
