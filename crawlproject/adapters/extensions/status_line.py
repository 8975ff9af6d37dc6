"""A line at the bottom of a terminal that is rewritten in place, while log messages scroll by above it."""

from __future__ import annotations

import logging
import os
import shutil
from typing import TextIO, cast

_ERASE = "\r\x1b[K"
_BETWEEN = " · "  # parts of a line


def is_interactive(stream: TextIO) -> bool:
    """Whether a line on ``stream`` can be rewritten: it is a terminal, and not a dumb one (``TERM``)."""
    return stream.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown", "")


def print_above(message: str, stream: TextIO) -> None:
    """Print a line to ``stream``, above the status line if it has one."""
    above = next((line for line in _open if line.is_on(stream)), None)
    print(message, file=cast(TextIO, above or stream), flush=True)


class StatusLine:
    """Between ``open`` and ``close``, the root logger's handlers for ``stream`` write through this object."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._line = ""
        self._whole = True  # the last message written ended its line
        self._handlers: list[logging.StreamHandler[TextIO]] = []

    def open(self) -> None:
        """Let log messages pass above the line from now on."""
        _open.append(self)
        for handler in logging.root.handlers:
            if isinstance(handler, logging.StreamHandler) and handler.stream is self._stream:
                handler.setStream(cast(TextIO, self))
                self._handlers.append(handler)

    def is_on(self, stream: TextIO) -> bool:
        return self._stream is stream

    def show(self, line: str) -> None:
        """Put ``line`` in place of the one before, cut at the terminal's width, between two of its parts if it has some."""
        width = shutil.get_terminal_size().columns - 1
        if len(line) > width:
            line = line[: width - 1].rpartition(_BETWEEN)[0] or line[: width - 1] + "…"
        self._line = line
        if self._whole:
            self._stream.write(_ERASE + self._line)
            self._stream.flush()

    def close(self) -> None:
        """Take the line away and give the stream back to the log."""
        for handler in self._handlers:
            handler.setStream(self._stream)
        self._handlers.clear()
        if self in _open:
            _open.remove(self)
        self._line = ""
        self._stream.write(_ERASE)
        self._stream.flush()

    def write(self, text: str) -> None:
        """What the log writes: above the line, which is drawn again below a finished message."""
        self._stream.write((_ERASE if self._whole else "") + text)
        self._whole = text.endswith("\n")
        if self._whole:
            self._stream.write(self._line)

    def flush(self) -> None:
        self._stream.flush()


_open: list[StatusLine] = []  # those between open and close
