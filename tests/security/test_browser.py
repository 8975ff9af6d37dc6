"""What a page may try in the browser: nothing of it comes to a server that the crawler itself would not ask."""

# ruff: noqa: E501  # lines of scripts
from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from support.attacker import Secret
from support.browser import CHROMIUM
from support.crawling import crawl, history, topic_file
from support.httpserver import QuietHandler, listening

SHELL = '<!doctype html><title>{name}</title><body><div id="root"></div><script src="/main.js"></script><script>{script}</script>'
DONE = "document.getElementById('root').innerHTML = '<p>the page went on, coral reef fish polyp lagoon atoll diver current kelp</p>';"
SECRET = "http://127.0.0.1:{secret}/secret"

# Each is one page with all of them in a row.
ATTACKS = {
    "requests": (
        "fetch('{url}').catch(() => 0);",
        "fetch('{url}', {{mode: 'no-cors'}}).catch(() => 0);",
        "fetch('/said', {{method: 'POST', body: 'x'}}).catch(() => 0);",
        "fetch('http://169.254.169.254/latest/meta-data/').catch(() => 0);",
        "for (const h of ['localhost', '2130706433', '[::1]', '0x7f.1', 'x.localhost', '0.0.0.0'])"
        " fetch('http://' + h + ':{secret}/').catch(() => 0);",
        "fetch('/to-secret').then((r) => r.text()).then((t) => fetch('/said?' + t)).catch(() => 0);",
        "document.head.append(Object.assign(document.createElement('script'), {{src: '/to-secret'}}));",
    ),
    "elements": (
        "document.head.insertAdjacentHTML('beforeend', '<link rel=preconnect href=\"{url}\"><link rel=dns-prefetch href=\"{url}\">"
        "<link rel=prefetch href=\"{url}\"><link rel=preload as=script href=\"{url}\"><link rel=modulepreload href=\"{url}\">"
        "<style>@import \"{url}\"; @font-face {{font-family: x; src: url({url})}} body {{background: url({url}); font-family: x}}</style>');",
        "document.head.append(Object.assign(document.createElement('script'),"
        " {{type: 'speculationrules', textContent: JSON.stringify({{prerender: [{{urls: ['{url}']}}]}})}}));",
        "new Image().src = '{url}'; document.body.insertAdjacentHTML('beforeend', '<video src=\"{url}\"></video>"
        "<object data=\"{url}\"></object><embed src=\"{url}\"><iframe src=\"{url}\"></iframe><iframe src=\"file:///etc/passwd\"></iframe>');",
    ),
    "sockets": (
        "new WebSocket('ws://127.0.0.1:{secret}/'); new EventSource('{url}'); navigator.sendBeacon('{url}', 'x');",
        "try {{ new WebTransport('https://127.0.0.1:{secret}/'); }} catch (e) {{}}",
        "const p = new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.1:{secret}'}}, {{urls:"
        " 'turn:127.0.0.1:{secret}?transport=tcp', username: 'a', credential: 'b'}}]}}); p.createDataChannel('x');"
        " p.createOffer().then((o) => p.setLocalDescription(o));",
        "const a = Object.assign(document.createElement('a'), {{href: '#x', ping: '{url}'}}); document.body.append(a); a.click();",
    ),
    "workers": (
        "new Worker(URL.createObjectURL(new Blob([\"fetch('{url}'); importScripts('{url}');\"])));",
        "try {{ new SharedWorker(URL.createObjectURL(new Blob([\"fetch('{url}');\"]))); }} catch (e) {{}}",
        "navigator.serviceWorker && navigator.serviceWorker.register('/sw.js').catch(() => 0);",
    ),
    "windows": (
        "for (let n = 0; n < 5; n++) window.open('{url}');",
        "document.body.insertAdjacentHTML('beforeend', '<form method=post action=\"{url}\" target=x id=f></form>'); document.forms.f.submit();",
        "alert(1); confirm(2); prompt(3); print();",
        "const b = Object.assign(document.createElement('a'), {{href: URL.createObjectURL(new Blob(['x'])), download: 'y'}});"
        " document.body.append(b); b.click();",
    ),
    "much": (
        "document.title = '\\ud800 half a pair';",
        "fetch('data:text/plain,' + 'x'.repeat(3e7)).catch(() => 0); fetch('file:///etc/passwd').catch(() => 0);",
        "for (let n = 0; n < 400; n++) fetch('/many/' + n).catch(() => 0);",
    ),
}  # fmt: skip
# These do not come to their end, or lead elsewhere.
OTHERS = {
    "location": "location.href = '{url}';",
    "download": "const a = Object.assign(document.createElement('a'), {{href: '{url}', download: 'x'}}); document.body.append(a); a.click();",
    "file-location": "const to = 'file:///etc/passwd'; location.href = to;",
    "data-location": "const to = 'data:text/html,<p>hi'; location.href = to;",
    "endless": "while (true) {{}}",
    "endless-dialogs": "while (true) alert(1);",
    "hog": "const all = []; while (true) {{ const part = new Uint8Array(5e7); part.fill(1); all.push(part); }}",
    "nodes": "while (true) document.body.append(document.createElement('p'));",
    "reload": "location.reload();",
    "long": "document.body.innerHTML = '<p>coral reef</p>'.repeat(1e6);",
}


class _Udp(threading.Thread):
    """Counts what comes by UDP to a port."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.count = 0
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", port))
        self._socket.settimeout(0.2)
        self._over = False

    def run(self) -> None:
        while not self._over:
            try:
                self._socket.recvfrom(2048)
            except TimeoutError:
                continue
            self.count += 1

    def close(self) -> None:
        self._over = True
        self.join()
        self._socket.close()


def _pages(secret: int) -> dict[str, str]:
    url = SECRET.format(secret=secret)
    after = {name: "".join(scripts).format(url=url, secret=secret) + DONE for name, scripts in ATTACKS.items()}
    return after | {name: script.format(url=url, secret=secret) for name, script in OTHERS.items()}


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """One crawl in which every page is an attack, through one Chromium."""
    if CHROMIUM is None:
        pytest.skip("no Chromium: scripts/install-chromium installs one")
    place = tmp_path_factory.mktemp("browser")
    asked: list[tuple[str, str]] = []
    with closing(Secret()) as secret, closing(_Udp(secret.port)) as udp:
        udp.start()
        pages = _pages(secret.port)

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                asked.append((self.command, self.path))
                name = self.path.strip("/")
                if name == "to-secret":
                    self._send(302, b"", ("Location", SECRET.format(secret=secret.port)))
                elif name == "main.js":
                    self._send(200, b"0;", ("Content-Type", "text/javascript"))
                elif name == "":
                    links = "".join(f'<p>coral reef <a href="/{page}">reef {page}</a></p>' for page in pages)
                    self._send(200, links.encode(), ("Content-Type", "text/html"))
                elif name in pages:
                    self._send(200, SHELL.format(name=name, script=pages[name]).encode(), ("Content-Type", "text/html"))
                else:
                    self._send(404, b"", ("Content-Type", "text/html"))

            do_POST = do_GET

            def _send(self, status: int, body: bytes, header: tuple[str, str]) -> None:
                self.send_response(status)
                self.send_header(*header)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        handler: type[BaseHTTPRequestHandler] = Handler
        with listening(handler) as port:
            done = crawl(
                topic_file(place, f"http://127.0.0.1:{port}/"),
                place / "crawl",
                CRAWL_RENDER="needed",
                CRAWL_RENDER_SECONDS=1,
                CRAWL_RENDER_PAGES=4,
                CRAWL_RENDER_MEMORY=300 * 2**20,
                CRAWL_ALLOWED_PORTS=f"80,443,{secret.port}",
                CRAWL_BLOCKED_REST=0.001,
                CRAWL_BLOCKS_UNTIL_GIVEN_UP=0,
            )
        yield {
            "folder": place / "crawl",
            "done": done,
            "visits": secret.visits,
            "datagrams": udp.count,
            "asked": asked,
            "lines": {line["url"].rpartition("/")[2]: line for line in history(place / "crawl")},
        }


def test_nothing_comes_to_the_secret(attacked: dict[str, Any]) -> None:
    assert attacked["done"].returncode == 0 and "Traceback" not in attacked["done"].stderr, attacked["done"].stderr
    assert attacked["visits"] == attacked["datagrams"] == 0


@pytest.mark.parametrize("name", ATTACKS)
def test_the_page_goes_on_without_what_it_wanted(attacked: dict[str, Any], name: str) -> None:
    line = attacked["lines"][name]
    assert line["signs"].get("rendered") and line["md5"], line
    assert "secret" not in line["title"]


def test_what_has_no_end_is_ended(attacked: dict[str, Any]) -> None:
    for name in ("endless", "endless-dialogs", "hog", "nodes", "reload", "file-location", "data-location"):
        assert attacked["lines"][name]["error"] == "needs_browser", name
        assert attacked["lines"][name]["seconds"] < 25, name
    assert attacked["lines"]["long"]["size"] <= 1_048_576


def test_a_redirect_by_script_is_refused_like_a_link(attacked: dict[str, Any]) -> None:
    for name in ("location", "download"):
        assert attacked["lines"][name]["redirect"].endswith("/secret")
    assert not any(line["url"].endswith("/secret") for line in attacked["lines"].values())


def test_only_get_and_only_so_much(attacked: dict[str, Any]) -> None:
    assert {method for method, _ in attacked["asked"]} == {"GET"}
    assert sum(path.startswith("/many/") for _, path in attacked["asked"]) <= 100
    assert not [path for _, path in attacked["asked"] if path.startswith("/said")]


def test_nothing_is_left(attacked: dict[str, Any]) -> None:
    """No process, and no file but those of the crawl."""
    mine = str(attacked["folder"].parent)
    assert {path.name for path in Path(mine).iterdir()} == {"topic.toml", "crawl"}
    left = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"--remote-debugging-pipe" in process.joinpath("cmdline").read_bytes():
                parent = int(process.joinpath("stat").read_text().rpartition(")")[2].split()[1])
                left += [process.name] if parent in (1, os.getpid()) else []
        except OSError:
            continue
    assert left == []
