"""Reads what servers send that is not quite HTTP, as browsers do: aiohttp's parser reads it, once its head is put right.

Only a response that this parser refuses is looked at again, so others cost nothing. ``tests/scrapy/test_odd_responses.py`` has
the kinds that are read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from aiohttp.http_exceptions import BadHttpMessage, LineTooLong

TOO_MANY = "Too many headers"  # what aiohttp says of them

_END = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(rb"(?i:HTTP)/(\d)(?:\.(\d))?[ \t]+(\d{3})(?!\d)[ \t]*([^\r\n]*)")
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROLS = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")

Fed = tuple[Any, bool, bytes]  # messages, whether the connection is another protocol's now, and the bytes of that


def is_flood(refusal: BaseException | None) -> bool:
    """Whether aiohttp refused a head for its size."""
    return isinstance(refusal, LineTooLong) or TOO_MANY in str(refusal)


class TolerantParser:
    """``parser`` reads one response. When it refuses that, ``renew()`` reads it again with its head put right.

    Raises what ``parser`` raises for what no browser reads either, and for heads that are too long.
    """

    def __init__(self, parser: Any, renew: Callable[[], Any]) -> None:
        self._parser, self._renew = parser, renew
        self._seen: bytes | None = b""  # what came of the response; None: its head was read
        self._refusal: BadHttpMessage | None = None

    def feed_data(self, data: bytes) -> Fed:
        if self._seen is None:
            fed: Fed = self._parser.feed_data(data)
            return fed
        self._seen += data
        if self._refusal is None:
            try:
                fed = self._parser.feed_data(data)
            except BadHttpMessage as refusal:
                if is_flood(refusal):
                    raise
                self._refusal = refusal
            else:
                if fed[0]:
                    self._seen = b"" if fed[0][-1][0].code < 200 else None
                return fed
        return self._read_again(self._seen)

    def _read_again(self, seen: bytes) -> Fed:
        """As soon as the head is whole. What comes behind the end of a body was not asked for."""
        assert self._refusal is not None
        if (end := _END.search(seen.lstrip(b"\r\n"))) is None:
            return (), False, b""
        seen = seen.lstrip(b"\r\n")
        if (head := put_right(seen[: end.start()])) is None:
            raise self._refusal
        self._seen, self._parser = None, self._renew()
        fed: Fed = self._parser.feed_data(head)
        if not fed[0]:
            raise self._refusal
        _, payload = fed[0][-1]
        if rest := seen[end.end() :]:
            with suppress(BadHttpMessage):
                self._parser.feed_data(rest)
                return fed
            if not payload.is_eof():
                raise self._refusal
        return fed

    def feed_eof(self) -> Any:
        return self._parser.feed_eof()

    def pause_reading(self) -> None:
        self._parser.pause_reading()


def put_right(head: bytes) -> bytes | None:
    """The head of a response with what any parser needs of it; None when it is none, or says that another one follows.

    Lines that are no header are left out, and so are lengths that contradict each other or a chunked body. The connection
    ends with such a response.
    """
    first, *lines = re.split(rb"\r?\n", head)
    status = _STATUS.fullmatch(first)
    if status is None or status[3] < b"200":
        return None
    fields: list[tuple[bytes, bytes]] = []
    lengths: set[bytes] = set()
    chunked = False
    for line in lines:
        name, colon, value = line.partition(b":")
        name, value = name.rstrip(), _CONTROLS.sub(b" ", value).strip()
        if not colon or _NAME.fullmatch(name) is None:
            continue  # no header, or the rest of the one before
        kind = name.lower()
        if kind == b"content-length":
            lengths.update(length.strip().lstrip(b"+") for length in value.split(b","))
        elif kind == b"transfer-encoding":
            chunked = chunked or b"chunked" in value.lower()
        elif kind not in (b"connection", b"upgrade"):
            fields.append((name, value))
    if chunked:
        fields.append((b"Transfer-Encoding", b"chunked"))
    elif len(lengths) == 1 and (length := lengths.pop()).isdigit():
        fields.append((b"Content-Length", length))
    fields.append((b"Connection", b"close"))
    version = b"1.0" if status[1] + (status[2] or b"") == b"10" else b"1.1"
    said = _CONTROLS.sub(b" ", status[4])
    return b"".join(
        (b"HTTP/%s %s %s\r\n" % (version, status[3], said), *(b"%s: %s\r\n" % field for field in fields), b"\r\n")
    )
