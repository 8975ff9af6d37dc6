"""A server that attacks the crawlers that visit it, and a second server that no link from the web may reach."""

from __future__ import annotations

import gzip
import socket
import socketserver
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import brotli

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n"
ZEROS = b"\0" * 50_000_000

Pieces = Iterable[bytes]

# What a page may say about itself. Each attacks another reader: HTML, JSON, templates, terminals, spreadsheets, paths.
PAYLOADS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'--></style></script><svg/onload=alert(1)>",
    "</title></textarea><iframe src=javascript:alert(1)>",
    "{{7*7}}{% for x in [].__class__.__base__.__subclasses__() %}{% endfor %}",
    '"}\n{"url": "http://forged.example/", "md5": "0"}',
    "\\u0022},{\\u0022",
    "\x1b]0;owned\x07\x1b[2J\u202e",
    '=HYPERLINK("http://evil.example/")',
    "../../../../etc/passwd\0.html",
    "%s%s%s%n {0.__class__}",
)


@dataclass
class Crawled:
    """The results of a crawl that began at the attacker's page."""

    folder: Path
    output: str
    code: int
    visits: int  # to the secret server
    origin: str  # of the attacker


def html(body: str) -> bytes:
    encoded = body.encode()
    return HTML + b"Content-Length: %d\r\n\r\n" % len(encoded) + encoded


def packed(body: bytes, codings: str) -> bytes:
    return HTML + f"Content-Encoding: {codings}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@cache
def bombs() -> dict[str, bytes]:
    """Responses of some kilobytes that unpack to 50 MB."""
    once = gzip.compress(ZEROS, 9)
    return {
        "/bomb/gzip": packed(once, "gzip"),
        "/bomb/deflate": packed(zlib.compress(ZEROS, 9), "deflate"),
        "/bomb/br": packed(brotli.compress(ZEROS, quality=5), "br"),
        "/bomb/zstd": packed(zstd.compress(ZEROS), "zstd"),
        "/bomb/twice": packed(gzip.compress(once, 9), "gzip, gzip"),
        "/bomb/thrice": packed(gzip.compress(gzip.compress(once, 9), 9), "gzip, gzip, gzip"),
        "/bomb/layers": packed(b"x", ", ".join(["gzip"] * 5_000)),
    }


def long_page(kind: str) -> bytes:
    """A page that declares 60 MB and sends a part of it; or a page of 2 MB, compressed like an ordinary one."""
    if kind == "declared":
        return HTML + b"Content-Length: 60000000\r\n\r\n<title>long</title>" + b"<p>coral reef " * 200_000
    lines = (f"<p>coral {number} reef {number * number}</p>" for number in range(60_000))
    return packed(gzip.compress("".join(lines).encode(), 1), "gzip")


def dripping(head: bytes, drop: bytes) -> Iterator[bytes]:
    yield head
    for _ in range(100):
        time.sleep(0.1)
        yield drop


def flood(kind: str) -> Iterator[bytes]:
    yield HTML
    for number in range(20_000):
        yield b"X-Flood-%d: %b\r\n" % (number, b"y" * 100) if kind == "many" else b"y" * 1_000
    yield b"\r\n\r\n<p>reef"


def injected(number: int) -> bytes:
    """A page with ``PAYLOADS[number]`` in its title, text, anchor and header."""
    text = PAYLOADS[number]
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    body = (
        f'<html lang="en"><title>coral reef {escaped}</title><body><p>coral reef {escaped}</p>'
        f'<p>coral reef <a href="/said/{number}?q={escaped}">reef {escaped}</a></p></body>'
    )
    return html(body)


class Attacker:
    """``answer(path)`` yields the pieces of a complete response."""

    def __init__(self, links: Iterable[str], redirects: Iterable[str], robots: str = "") -> None:
        self.redirects = list(redirects)
        self.robots = robots
        paths = [
            *bombs(), "/long/declared", "/long/gzip", "/drip/body", "/drip/head",
            "/flood/many", "/flood/long", "/loop/0", "/type",
            "/..%2f..%2fetc%2fpasswd", "/%00/x", "/a%0d%0aX-Injected:%20y", "/" + "n" * 200,
            *(f"/to/{number}" for number in range(len(self.redirects))),
            *(f"/inject/{number}" for number in range(len(PAYLOADS))),
        ]  # fmt: skip
        self.links = [*paths, *links]

    def answer(self, path: str) -> Pieces:
        first, _, rest = path.strip("/").partition("/")
        named: dict[str, Callable[[], Pieces]] = {
            "": self._front,
            "robots.txt": lambda: (
                [html(self.robots)] if self.robots else [b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"]
            ),
            "bomb": lambda: [bombs()[path]],
            "long": lambda: [long_page(rest)],
            "drip": lambda: dripping(HTML + (b"\r\n<p>" if rest == "body" else b"X-A: "), b"reef "),
            "flood": lambda: flood(rest),
            "loop": lambda: [self._redirect(f"/loop/{int(rest) + 1}")],
            "to": lambda: [self._redirect(self.redirects[int(rest)])],
            "inject": lambda: [injected(int(rest))],
            "type": lambda: [html("x").replace(b"text/html", b"evil/\x1b]0;owned\x07<script>")],
        }
        return named.get(first, lambda: [html("<p>coral reef")])()

    def _front(self) -> Pieces:
        anchors = (link.replace("&", "&amp;").replace('"', "&quot;") for link in self.links)
        return [html("".join(f'<p>coral reef <a href="{link}">reef</a></p>' for link in anchors))]

    @staticmethod
    def _redirect(target: str) -> bytes:
        return f"HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()


@contextmanager
def attacking(attacker: Attacker) -> Iterator[int]:
    """Run the attacker on loopback and yield its port."""

    class Handler(socketserver.StreamRequestHandler):
        timeout = 20

        def handle(self) -> None:
            target = self.rfile.readline(70_000).split(b" ")[1:2]
            while self.rfile.readline(70_000).strip():
                pass
            try:
                for piece in attacker.answer(target[0].decode("latin-1") if target else "/"):
                    self.wfile.write(piece)
            except OSError:
                return  # the crawler has seen enough

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()


class Secret:
    """Listens on a loopback port, IPv4 and IPv6, and counts the connections."""

    def __init__(self) -> None:
        self.visits = 0
        self._sockets = [socket.create_server(("127.0.0.1", 0))]
        self.port = self._sockets[0].getsockname()[1]
        with suppress(OSError):  # a machine without IPv6
            self._sockets.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))
        for listening in self._sockets:
            threading.Thread(target=self._serve, args=(listening,), daemon=True).start()

    def _serve(self, listening: socket.socket) -> None:
        while True:
            try:
                visitor, _ = listening.accept()
            except OSError:
                return
            with closing(visitor):
                self.visits += 1
                visitor.sendall(html("<title>secret</title>coral reef secret"))

    def close(self) -> None:
        for listening in self._sockets:
            listening.close()
