"""A line at the bottom of a terminal that is rewritten in place, while log messages scroll by above it."""

from __future__ import annotations

import logging
import shutil
from typing import TextIO, cast

_ERASE = "\r\x1b[K"


class StatusLine:
    """Between ``open`` and ``close``, the root logger's handlers for ``stream`` write through this object."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._line = ""
        self._whole = True  # the last message written ended its line
        self._handlers: list[logging.StreamHandler[TextIO]] = []

    def open(self) -> None:
        """Let log messages pass above the line from now on."""
        for handler in logging.root.handlers:
            if isinstance(handler, logging.StreamHandler) and handler.stream is self._stream:
                handler.setStream(cast(TextIO, self))
                self._handlers.append(handler)

    def show(self, line: str) -> None:
        """Put ``line`` in place of the one before, cut at the terminal's width."""
        width = shutil.get_terminal_size().columns - 1
        self._line = line if len(line) <= width else line[: width - 1] + "…"
        if self._whole:
            self._stream.write(_ERASE + self._line)
            self._stream.flush()

    def close(self) -> None:
        """Take the line away and give the stream back to the log."""
        for handler in self._handlers:
            handler.setStream(self._stream)
        self._handlers.clear()
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
