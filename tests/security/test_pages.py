"""Attacks in titles, anchors, URLs and texts of hostile pages stay text on every page that we show."""

from __future__ import annotations

import json
import re
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.browser import DESKTOP, Watcher, browser, serving
from support.crawling import crawl, scrapy, topic_file
from support.httpserver import QuietHandler, listening

pytestmark = pytest.mark.slow

ATTACKS = (
    "<script>document.title='pwned'</script>",
    "</script><script>document.title='pwned'</script>",
    "<img src=x onerror=document.title='pwned'>",
    "</title><svg onload=document.title='pwned'>",
    "\"><iframe srcdoc='<script>parent.document.title=1</script>'>",
    "javascript:document.title='pwned'",
    "{{ 7 * 7 }}${7*7}<%= 7*7 %>",
    "</textarea></style></noscript><base href=//evil.example>",
    "<!--<script>",
    "]]><script>document.title='pwned'</script>",
    "\u202eevil\u2066\u200f",
    "<a href=//evil.example target=_top>click</a><form action=//evil.example><input name=q></form>",
    "<b onmouseover=document.title='pwned'>coral</b>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
)


@pytest.fixture(scope="module")
def hostile_crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of pages whose titles, anchors, paths and texts are attacks."""
    root = tmp_path_factory.mktemp("hostile")
    escaped = [text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;") for text in ATTACKS]
    links = "".join(
        f'<p>coral reef <a href="/{number}?x=%3Cscript%3E\'%22{number}">coral {text}</a></p>'
        for number, text in enumerate(escaped)
    )
    web = root / "web" / "reef.example"
    web.mkdir(parents=True)
    (web / "index.html").write_text(f"<title>{escaped[0]}</title><body>coral reef {links}")
    for number, text in enumerate(escaped):
        page = f"<title>coral {text}</title><body><p>coral reef {text} coral</p><a href='/'>home</a>"
        (web / f"{number}?x=%3Cscript%3E'%22{number}").write_text(page)
        (web / f"{number}").write_text(page)
    topic = topic_file(root, "http://reef.example/", keywords="coral reef", extra=f'description = """{ATTACKS[1]}"""\n')
    run = crawl(topic, root / "crawl", VIRTUAL_WEB=root / "web")
    assert run.returncode == 0, run.stderr
    return root / "crawl"


def test_the_attacks_were_crawled(hostile_crawl: Path) -> None:
    titles = [json.loads(line)["title"] for line in (hostile_crawl / "items.jsonl").read_text().splitlines()]
    assert sum("pwned" in title for title in titles) >= 8


@contextmanager
def an_origin(page: bytes):
    """Serve ``page`` from a separate origin, as an attacker would."""

    class Site(QuietHandler):
        protocol_version = "HTTP/1.0"  # the page ends with the connection

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page)

    with listening(Site) as port:
        yield f"http://127.0.0.1:{port}/"


def holds(page: object, watcher: Watcher, allowed: str) -> None:
    """Nothing ran, nothing was loaded, nothing was framed, no link leads to a script."""
    assert "pwned" not in page.title() or "<" in page.title(), page.title()  # it may appear as text
    assert page.evaluate("document.title") != "pwned"
    assert [problem for problem in watcher.problems if "Content Security Policy" not in problem] == []
    assert all(request.startswith((allowed, "data:")) for request in watcher.requests), watcher.requests
    links = page.eval_on_selector_all("a", "nodes => nodes.map(node => node.getAttribute('href'))")
    assert [link for link in links if link and not re.match(r"https?:|/|#|[a-z]+\.jsonl?|pages", link)] == []
    assert page.evaluate("document.querySelectorAll('iframe, base, object, embed, img, main form[action]').length") == 0
    assert (
        page.evaluate("[...document.querySelectorAll('*')].some(e => [...e.attributes].some(a => /^on/.test(a.name)))")
        is False
    )


@pytest.mark.parametrize("name", ["report.html", "map.html"])
def test_files_run_nothing_of_the_web(hostile_crawl: Path, name: str) -> None:
    made = scrapy("report" if name == "report.html" else "map", hostile_crawl)
    assert made.returncode == 0, made.stderr
    text = (hostile_crawl / name).read_text()
    for attack in ATTACKS:
        if "<" in attack:
            assert attack not in re.sub(r"(?s)<script>.*?</script>", "", text, count=0 if name == "report.html" else 1)
    assert "\u202e" not in text
    with browser() as chromium:
        page = chromium.new_page(viewport=DESKTOP)
        watcher = Watcher(page)
        address = (hostile_crawl / name).as_uri()
        page.goto(address)
        page.wait_for_timeout(500)
        if name == "map.html":
            page.fill("#find", "coral")
            page.press("#find", "Enter")
            assert page.locator("#about h2").count() == 1
        holds(page, watcher, "file://")


def test_the_live_view_runs_nothing_of_the_web(hostile_crawl: Path, tmp_path: Path) -> None:
    with browser() as chromium, serving(tmp_path, "dashboard", hostile_crawl.parent) as url:
        page = chromium.new_page(viewport=DESKTOP)
        watcher = Watcher(page)
        page.goto(url)
        page.wait_for_selector("#best li")
        page.fill("#search-query", "coral")
        page.click("#search button")
        page.wait_for_selector("#hits li")
        holds(page, watcher, url)
        assert "<script>" in page.inner_text("#best")  # as text

        # Report and map are sandboxed: their origin lacks the token.
        for path in ("report", "map"):
            page.goto(f"{url}/{path}?crawl=crawl")
            page.wait_for_timeout(300)
            assert page.evaluate("window.origin") == "null"
            holds(page, watcher, url)


def test_another_site_can_neither_read_nor_command_nor_frame(hostile_crawl: Path, tmp_path: Path) -> None:
    with browser() as chromium, serving(tmp_path, "dashboard", hostile_crawl.parent) as url:
        script = """<!doctype html><title>evil</title><script>
            window.outcome = {};
            const note = (name, promise) =>
              promise.then(r => window.outcome[name] = r.type + r.status, () => window.outcome[name] = 'refused');
            const headers = {'Content-Type': 'application/json', 'X-Dashboard-Token': 'x'};
            note('read', fetch('URL/api/crawls'));
            note('post', fetch('URL/api/start', {method: 'POST', mode: 'no-cors', body: '{}'}));
            note('json', fetch('URL/api/start', {method: 'POST', headers, body: '{}'}));
            </script><iframe src="URL/"></iframe><script src="URL/dashboard.js"></script>""".replace("URL", url)
        with an_origin(script.encode()) as attacker:
            page = chromium.new_page()
            page.goto(attacker.replace("127.0.0.1", "localhost"))
            page.wait_for_timeout(1500)
            outcome = page.evaluate("window.outcome")
            assert outcome["read"] == "refused" and outcome["json"] == "refused"
            assert outcome["post"] in ("opaque0", "refused")  # it was sent, and not obeyed
            assert page.evaluate("typeof look") == "undefined"  # our script is not served to other origins either
            framed = [frame for frame in page.frames if frame != page.main_frame]
            assert all("Topical crawls" not in frame.content() for frame in framed)
        assert [
            name for name in hostile_crawl.parent.iterdir() if name.name not in ("web", "crawl", "topic.toml")
        ] == []


def test_a_name_that_points_here_is_not_answered(hostile_crawl: Path, tmp_path: Path) -> None:
    """DNS rebinding: evil.example resolves to 127.0.0.1 in the browser."""
    with serving(tmp_path, "dashboard", hostile_crawl.parent) as url:
        request = urllib.request.Request(
            f"{url}/api/crawls", headers={"Host": f"evil.example:{url.rpartition(':')[2]}"}
        )
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(request, timeout=10)
