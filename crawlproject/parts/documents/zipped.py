"""Untrusted ZIP files: limits on what one may contain."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZipFile

from crawlproject.parts.documents.html_draft import Unreadable

MAX_UNPACKED = 100_000_000  # bytes of all files together, by the sizes in the archive: no more is read of each
MAX_FILES = 10_000


def checked(body: bytes) -> ZipFile:
    """The archive. Raises ``Unreadable`` for a bomb or an encrypted file, ``BadZipFile`` if it is not a ZIP file."""
    archive = ZipFile(BytesIO(body))
    files = archive.infolist()
    if len(files) > MAX_FILES or sum(file.file_size for file in files) > MAX_UNPACKED:
        archive.close()
        raise Unreadable("document/bomb")
    if any(file.flag_bits & 1 for file in files):
        archive.close()
        raise Unreadable("document/encrypted")
    return archive
