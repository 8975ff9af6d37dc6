"""What a server names a version of a page by: ``ETag`` and ``Last-Modified`` (RFC 9110 section 8.8).

A later visit sends them back as they came, to be told that nothing has changed.
"""

from __future__ import annotations

MAX_VALIDATOR = 200  # characters


def validator(value: str) -> str:
    """The header as sent; empty when it is longer than ``MAX_VALIDATOR``, or is no header that can be sent back.

    Half of one would name nothing.
    """
    text = value.strip()
    return text if len(text) <= MAX_VALIDATOR and text.isascii() and text.isprintable() else ""
