"""Hosts with a login, forms, redirects and a page that fails once, behind an HTTP proxy on loopback."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, urlsplit

from support.httpserver import QuietHandler, listening

HOSTS = [f"shelf{number}.example" for number in range(4)]
PRODUCTS = 12  # per host
FRONT = "http://shop.example/"


@dataclass
class Seen:
    """One received request: its contents, and the times at which it began and was answered."""

    method: str
    url: str
    body: str
    cookie: str
    mark: str
    start: float
    end: float = 0.0

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def asked(self) -> tuple[str, str, str, str, str]:
        return self.method, self.url, self.body, self.cookie, self.mark


@dataclass
class Shop:
    """The state of the web, and the requests that it received."""

    port: int = 0
    seconds: float = 0.0  # duration of a response
    robots: str = "User-agent: *\nDisallow: /private/\n"
    seen: list[Seen] = field(default_factory=list)
    failed: set[str] = field(default_factory=set)

    def answer(self, seen: Seen) -> tuple[int, dict[str, str], str]:
        parts = urlsplit(seen.url)
        place = parts.path
        if place == "/robots.txt":
            return 200, {"Content-Type": "text/plain"}, self.robots
        if place == "/login" and seen.method == "POST":
            name = parse_qs(seen.body)["user"][0]
            return 302, {"Location": "/account", "Set-Cookie": f"session={name}; Path=/"}, ""
        if place == "/account":
            return self._account(seen)
        if place == "/stock" and seen.method == "POST":
            return 200, {}, f"<b>{sum(map(ord, seen.body)) % 50}</b>"
        if place == "/flaky" and seen.url not in self.failed:
            self.failed.add(seen.url)
            return 503, {}, ""
        if place == "/moved":
            return 301, {"Location": f"http://{HOSTS[0]}/p/1"}, ""
        if place == "/":
            return 200, {}, self._front(parts.hostname or "")
        if place.startswith(("/p/", "/order/", "/flaky", "/private/", "/login")):
            number = place.rpartition("/")[2]
            return 200, {}, f"<h1>{parts.hostname} {number}</h1><a href='/'>home</a> <a href='/p/1'>first</a>"
        return 404, {}, ""

    def _account(self, seen: Seen) -> tuple[int, dict[str, str], str]:
        cookie = SimpleCookie(seen.cookie)
        if "session" not in cookie:
            return 403, {}, ""
        links = "".join(f"<a class='order' href='/order/{number}'>order</a>" for number in range(8))
        return 200, {}, f"<h1>{cookie['session'].value}</h1>{links}"

    def _front(self, host: str) -> str:
        if host == urlsplit(FRONT).hostname:
            links = [f"http://{name}/" for name in HOSTS] + ["/flaky", "/moved", "/private/x", "/gone"]
        else:
            links = [f"/p/{number}" for number in range(PRODUCTS)]
        return "".join(f"<p><a href='{link}'>link</a></p>" for link in links)


@contextmanager
def open_shop(seconds: float = 0.0, robots: str = "") -> Iterator[Shop]:
    """Run the shop on a free port; as the HTTP proxy it receives every request to any host."""
    shop = Shop(seconds=seconds)
    shop.robots += robots

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length).decode()
            cookie, mark = self.headers.get("Cookie", ""), self.headers.get("X-Mark", "")
            seen = Seen(self.command, self.path, body, cookie, mark, time.time())
            status, headers, text = shop.answer(seen)
            time.sleep(shop.seconds)
            shop.seen.append(seen)
            answer = text.encode()
            seen.end = time.time()
            self.send_response(status)
            for name, value in {"Content-Type": "text/html", "Content-Length": str(len(answer)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer)

        do_POST = do_GET

    with listening(Handler) as shop.port:
        yield shop
