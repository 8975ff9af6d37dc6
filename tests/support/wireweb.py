"""A web behind a proxy that responds like real servers: compressed, in chunks, with redirects and odd headers."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from support.httpserver import QuietHandler, listening

HTML = "text/html; charset=iso-8859-1"


class Answer(NamedTuple):
    """``encoding`` is gzip, deflate or none; a ``chunked`` response has no Content-Length."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = {}
    encoding: str = ""
    chunked: bool = False


def linked(name: str, *links: str, text: str = "coral reef", head: str = "") -> bytes:
    """A page in ISO 8859-1, which only the header declares."""
    anchors = "".join(f'<p>{text} <a href="{link}">{text}</a>' for link in links)
    return f"<!doctype html><title>Réef {name}</title>{head}<body><p>{text} café {name}{anchors}".encode("latin-1")


def compressed(body: bytes, encoding: str) -> bytes:
    return gzip.compress(body, mtime=0) if encoding == "gzip" else zlib.compress(body) if encoding else body


@contextmanager
def serving(web: Mapping[str, Answer]) -> Iterator[int]:
    """Run a proxy in front of ``web``; yield its port."""

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            answer = web.get(self.path) or Answer(b"<h1>gone</h1>", 404)
            body = compressed(answer.body, answer.encoding)
            self.send_response(answer.status)
            for name, value in {"Content-Type": HTML, "X-Odd": "a, b", **answer.headers}.items():
                self.send_header(name, value)
            if answer.encoding:
                self.send_header("Content-Encoding", answer.encoding)
            if answer.chunked:
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for at in range(0, len(body), 100):
                    piece = body[at : at + 100]
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.write(b"0\r\n\r\n")
            else:
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

    with listening(Handler) as port:
        yield port
