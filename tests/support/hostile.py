"""A server that misbehaves over raw sockets in all the ways that a crawler must survive."""

from __future__ import annotations

import gzip
import socketserver
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from random import Random
from urllib.parse import urlsplit

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"
KINDS = 20


def plain(body: bytes, headers: bytes = b"") -> bytes:
    """A complete response with a correct Content-Length."""
    return HEAD + headers + b"Content-Length: %d\r\n\r\n" % len(body) + body


@cache
def gzip_bomb() -> bytes:
    """100 KB that unpack to 100 MB."""
    return gzip.compress(b"\x00" * 100_000_000, 1)


def hostile_response(number: int) -> list[bytes]:
    """The pieces that page ``number`` sends before it closes the connection; the same on every call."""
    random = Random(number)
    junk = random.randbytes(random.randrange(1, 20_000))
    text = b"<p>coral reef</p>" * 50
    kinds = [
        lambda: [plain(junk)],
        lambda: [plain(b"<html><body>" + junk + b"<a href=/after>x</a>")],
        lambda: [plain(text.decode().encode("utf-16") + junk, b"Content-Language: x\r\n")],
        lambda: [plain(b'<meta charset="utf-7">' + text), b""],
        lambda: [plain(b'<meta charset="no-such-charset">' + junk)],
        lambda: [plain(b"".join(b"<a href=/x%d>reef</a>" % n for n in range(50_000)))],
        lambda: [plain(b"<div>" * 100_000 + text)],
        lambda: [plain(b"<b><i>" * 40_000 + b"</p></b>" * 40_000)],
        lambda: [plain(b"\x00" * 30_000 + text + b"\x00" * 100)],
        lambda: [plain(gzip_bomb(), b"Content-Encoding: gzip\r\n")],
        lambda: [plain(zlib.compress(text)[:-9], b"Content-Encoding: deflate\r\n")],
        lambda: [plain(b"not gzip at all" + junk, b"Content-Encoding: gzip\r\n")],
        lambda: [HEAD + b"\r\n", *([b"<p>endless reef</p>" * 4_000] * 200)],
        lambda: [HEAD + b"Content-Length: 1000000\r\n\r\n" + text],
        lambda: [HEAD + b"Content-Length: 10\r\n\r\n" + text],
        lambda: [HEAD + b"Content-Length: -5\r\n\r\n" + text],
        lambda: [HEAD + b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFF\r\n" + text],
        lambda: [b"HTTP/9.9 abc what\r\n\r\n" + junk],
        lambda: [junk],
        lambda: [plain(b'<base href="http://[::bad"><a href="http://%zz/">x</a><a href="//">y</a><!--' + junk)],
    ]
    assert len(kinds) == KINDS
    return kinds[number % KINDS]()


class _Handler(socketserver.StreamRequestHandler):
    timeout = 20

    def handle(self) -> None:
        target = self.rfile.readline(70_000).split(b" ")[1:2]
        while self.rfile.readline(70_000).strip():
            pass
        try:
            for piece in self._pieces(urlsplit(target[0].decode("latin-1")).path if target else "/"):
                self.wfile.write(piece)
        except OSError:
            return  # the crawler has seen enough

    def _pieces(self, path: str) -> list[bytes]:
        if path == "/":
            links = "".join(f"<p>reef <a href=/{number}>page {number}</a></p>" for number in range(200))
            return [plain(links.encode())]
        if path[1:].isdecimal():
            return hostile_response(int(path[1:]))
        return [b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"]


@contextmanager
def hostile_proxy() -> Iterator[int]:
    """Serve 200 hostile pages behind the front page of any host; yield the port of the proxy."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
