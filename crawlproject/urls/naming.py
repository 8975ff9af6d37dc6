"""Names of stored pages (paper 000 section 2.1: file names by the MD5 hash of the canonical URL)."""

from __future__ import annotations

from hashlib import md5


def page_name(url: str) -> str:
    """The MD5 of a canonical URL in 32 hexadecimal digits.

    ``http://www.uiowa.edu/`` is ``160766577426e1d01fcb7735091ec584``, the paper's example.
    """
    return md5(url.encode("utf-8"), usedforsecurity=False).hexdigest()


def page_path(name: str) -> str:
    """The path of a page below the pages folder: ``16/07/160766577426e1d01fcb7735091ec584``.

    Two levels of 256 folders keep each folder small up to tens of millions of pages.
    """
    return f"{name[:2]}/{name[2:4]}/{name}"
