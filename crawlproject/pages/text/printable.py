"""Removes characters from untrusted text that would control the reader's terminal or mislead the reader.

Escape sequences move cursors, rename windows and hide what was printed before; direction marks show ``txt.exe`` as
``exe.txt``. Neither belongs in a title, a log line or a table.
"""

from __future__ import annotations

import re
from typing import Any, TextIO

# C0 and C1 controls except tab and line feed, lone surrogates, and the marks that reorder the text around them.
_UNWANTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_STEERING = re.compile(
    "\x1b(?!\\[[0-9;]{0,30}m)|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)


def printable(text: str) -> str:
    """Return ``text`` without control characters; tabs and line feeds stay."""
    return text if text.isprintable() else _UNWANTED.sub("", text)


def visible(text: str) -> str:
    """Return ``text`` with its control characters spelled out, such as ``\\x1b``: for logs, where they are evidence."""
    return text if text.isprintable() else _UNWANTED.sub(_spelled, text)


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return ``1 page``, ``2,000 pages``; without ``plural`` the noun takes an s."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


class PlainStream:
    """A text stream that spells out control characters, except tabs, line feeds and, on a terminal, \\r and colours."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._unwanted = _STEERING if stream.isatty() else _UNWANTED

    def write(self, text: str) -> int:
        if not text.isprintable():
            text = self._unwanted.sub(_spelled, text)
        return self._stream.write(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _spelled(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"
