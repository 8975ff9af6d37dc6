"""Servers on loopback that print nothing, even when a client hangs up."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class QuietHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class HtmlHandler(QuietHandler):
    def answer(self, status: int, html: str, **headers: str) -> None:
        """Send a page; ``html`` is the markup between ``<html>`` and ``</html>``."""
        body = f"<!doctype html><html lang=en>{html}</html>".encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore the error: a crawler that is killed resets its connections."""


def local(port: int) -> dict[str, object]:
    """Settings that let a crawl connect to a local server."""
    return {"CRAWL_ALLOWED_ADDRESSES": "127.0.0.1", "CRAWL_ALLOWED_PORTS": str(port)}


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    """Run a server until the end of the block; yield its port."""
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
