"""The companion as a process: over HTTP, and in a browser with and without its extension."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.browser import CHROMIUM, Watcher, browser, fits, serving, wait_until
from support.crawling import ROOT, scrapy, start
from support.httpserver import HtmlHandler, listening, local

pytestmark = pytest.mark.slow

NACRE = "http://www.nacre-divers.example/"
QUICK = {"VIRTUAL_WEB": "sample", "POLITENESS_MIN_DELAY": 0.02, "POLITENESS_FACTOR": 0, "COMPANION_RATE": 1000}
EXTENSION = ROOT / "crawlproject" / "companion" / "browser"
PANEL = {"width": 360, "height": 800}


class Service:
    """A running companion; ``me`` is the folder of the person."""

    def __init__(self, address: str, me: Path) -> None:
        self.address = address
        self.base, _, self.token = address.partition("/#")
        self.me = me

    def ask(self, path: str, body: object = None, *, raw: bytes | None = None, **headers: str) -> tuple[int, Any]:
        chosen = {"X-Companion-Token": self.token, "Content-Type": "application/json"}
        chosen |= {name.replace("_", "-"): value for name, value in headers.items()}
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(urllib.request.Request(self.base + path, data, chosen), timeout=20) as reply:
                return reply.status, json.loads(reply.read())
        except urllib.error.HTTPError as refused:
            return refused.code, json.loads(refused.read())

    def panel(self) -> dict[str, Any]:
        status, found = self.ask("/api/panel")
        assert status == 200
        return dict(found)

    def until(self, condition: Any, seconds: float = 60.0) -> dict[str, Any]:
        """Wait until the condition holds; return the panel."""
        end = time.monotonic() + seconds
        while not condition(found := self.panel()):
            assert time.monotonic() < end, f"it did not happen: {found}"
            time.sleep(0.1)
        return found


@contextmanager
def companion(folder: Path, **settings: object) -> Iterator[Service]:
    me = folder / "me"
    chosen = {**QUICK, "COMPANION_DIR": me, **settings}
    with serving(folder, "companion", printed="Companion: ", **chosen) as address:
        yield Service(address, me)


def has_suggestions(panel: dict[str, Any]) -> bool:
    return bool(panel["suggestions"])


def test_from_the_page_at_hand_to_suggestions_with_reasons(tmp_path: Path) -> None:
    with companion(tmp_path, COMPANION_ORDERING="dom") as service:
        html = "<title>Corals</title><p>" + "Corals build a reef; polyps and bleaching of coral reefs. " * 10
        assert service.ask("/api/page", {"url": NACRE, "title": "Nacre", "html": html})[0] == 200
        status, answer = service.ask("/api/read", {"url": NACRE, "seconds": 60})
        assert status == 200 and "reef" in {found["word"].lower() for found in answer["interests"]}
        panel = service.until(has_suggestions)
        best = panel["suggestions"][0]
        assert set(best) == {"url", "title", "score", "clicks", "via", "because"} and 1 <= best["clicks"] <= 3
        assert {word.lower() for word in best["because"]} & {"coral", "corals", "reef", "reefs", "polyps", "bleaching"}

        profile = json.loads((service.me / "profile.json").read_text())
        assert profile["interests"] and NACRE not in json.dumps(profile)
        assert service.ask("/api/judge", {"url": best["url"], "verdict": "saved"})[0] == 200
        assert json.loads((service.me / "profile.json").read_text())["saved"] == [best["url"]]
        assert best["url"] not in [found["url"] for found in service.panel()["suggestions"]]
        assert service.ask("/api/profile")[1]["saved"] == [best["url"]]

        word = panel["interests"][0]["word"]
        assert service.ask("/api/interest", {"word": word, "weight": 0})[0] == 200
        assert word not in json.loads((service.me / "profile.json").read_text())["interests"]

        assert service.ask("/api/never", {"url": NACRE})[1]["never"] == ["www.nacre-divers.example"]
        assert service.ask("/api/page", {"url": NACRE})[1]["page"] is None

        assert service.ask("/api/forget", {})[1]["interests"] == []
        assert not (service.me / "profile.json").exists() and service.panel()["saved"] is False
    assert [path.name for path in service.me.iterdir()] == ["token"]
    assert "nacre" not in (tmp_path / "serving.log").read_text()


def test_the_budget_and_a_pause(tmp_path: Path) -> None:
    with companion(tmp_path, COMPANION_FETCHES=4) as service:
        service.ask("/api/page", {"url": NACRE})
        assert service.until(lambda panel: panel["fetched"] == 4)["budget"] == 4
        time.sleep(1.0)
        assert service.panel()["fetched"] == 4
        assert service.ask("/api/pause", {"paused": True})[1]["paused"] is True
        assert service.ask("/api/page", {"url": NACRE})[1]["page"] is None
        assert json.loads((service.me / "profile.json").read_text())["paused"] is True
        assert service.ask("/api/pause", {"paused": False})[1]["paused"] is False
        assert service.ask("/api/page", {"url": NACRE})[1]["page"]["url"] == NACRE


def test_who_is_not_answered(tmp_path: Path) -> None:
    with companion(tmp_path) as service:
        body = {"url": NACRE}
        for path in ("/api/panel", "/api/profile"):
            assert service.ask(path, X_Companion_Token="guess")[0] == 403
            assert service.ask(path, Host="evil.example")[0] == 403
            assert service.ask(path, Sec_Fetch_Site="cross-site")[0] == 403
        assert service.ask("/api/page", body, X_Companion_Token="")[0] == 403
        assert service.ask("/api/page", body, Origin="http://evil.example")[0] == 403
        assert service.ask("/api/page", body, Content_Type="text/plain")[0] == 403
        assert service.ask("/api/page", body, Origin="chrome-extension://abc", Sec_Fetch_Site="cross-site")[0] == 200
        assert service.ask("/api/forget")[0] == 405 and service.ask("/nothing")[0] == 404
        with urllib.request.urlopen(f"{service.base}/", timeout=20) as reply:
            assert service.token not in reply.read().decode()
            assert reply.headers["X-Frame-Options"] == "DENY"


def test_wrong_requests_are_told_and_change_nothing(tmp_path: Path) -> None:
    with companion(tmp_path) as service:
        for path, body, told in (
            ("/api/page", {}, "url: expected a text"),
            ("/api/page", {"url": 7}, "url: expected a text"),
            ("/api/page", {"url": "ftp://a.example/"}, "http or https"),
            ("/api/page", {"url": f"http://a.example/{'x' * 3000}"}, "at most 2,000"),
            ("/api/page", {"url": NACRE, "html": 1}, "html: expected a text"),
            ("/api/page", {"url": NACRE, "private": True}, "private windows"),
            ("/api/page", {"url": NACRE, "verdict": "liked"}, "saved or dismissed"),
            ("/api/read", {"url": NACRE, "seconds": -1}, "seconds: expected a number"),
            ("/api/read", {"url": NACRE}, "seconds: expected a number"),
            ("/api/judge", {"url": NACRE, "verdict": "liked"}, "saved, dismissed"),
            ("/api/pause", {"paused": "yes"}, "true or false"),
            ("/api/interest", {"word": "reef", "weight": "much"}, "weight: expected a number"),
            ("/api/interest", {"word": "the", "weight": 1}, "one word"),
            ("/api/never", {"url": "mail"}, "http or https"),
        ):
            status, answer = service.ask(path, body)
            assert (status, told in answer["error"]) == (400, True), (path, body, answer)
        assert service.ask("/api/page", raw=b"[1]")[0] == 400 and service.ask("/api/page", raw=b"{")[0] == 400
        assert service.ask("/api/read", raw=b'{"url": "' + b"x" * 70_000 + b'"}')[0] == 400
        assert service.panel()["page"] is None and not (service.me / "profile.json").exists()


def test_an_edit_of_the_profile_holds_and_a_slip_is_told(tmp_path: Path) -> None:
    with companion(tmp_path) as service:
        path = service.me / "profile.json"
        path.write_text('{"interests": {"lighthouse": 9}}')
        assert service.panel()["interests"] == [{"word": "lighthouse", "weight": 9}]
        path.write_text('{"interests": {"lighthouse": }}')
        assert "is not JSON" in service.panel()["error"]
        assert service.ask("/api/judge", {"url": NACRE, "verdict": "saved"})[0] == 400
        assert path.read_text() == '{"interests": {"lighthouse": }}'
        path.unlink()
        panel = service.panel()
        assert (panel["error"], panel["interests"]) == ("", [])


def test_your_own_network_is_not_looked_at(tmp_path: Path) -> None:
    with companion(tmp_path, VIRTUAL_WEB="") as service:
        service.ask("/api/page", {"url": service.base, "title": "the companion itself"})
        time.sleep(2.0)
        panel = service.panel()
        assert panel["suggestions"] == [] and panel["page"]["url"] == f"{service.base}/"
    said = (tmp_path / "serving.log").read_text().splitlines()
    assert len(said) == 3 and said[-1].startswith("Stopping")  # refused requests are not logged either


def test_nothing_is_left_of_what_was_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    feeds = json.dumps({str(scratch / "feed.jsonl"): {"format": "jsonlines"}})  # as a project may set for its crawls
    with companion(tmp_path, FEEDS=feeds, HTTPCACHE_ENABLED=1, HTTPCACHE_DIR=scratch / "cache") as service:
        service.ask("/api/page", {"url": NACRE})
        service.until(lambda panel: panel["fetched"] == panel["budget"])
        (folder,) = scratch.glob("companion-*")
        assert [path.name for path in folder.rglob("*") if path.is_file()] == ["crawl.json"]
        assert "nacre" not in (folder / "crawl.json").read_text()
    assert list(scratch.iterdir()) == []


def test_it_is_logged_in_nowhere_and_asks_no_judge_whatever_the_settings_of_crawls(tmp_path: Path) -> None:
    seen: list[tuple[str, str | None]] = []

    class Site(HtmlHandler):
        def do_GET(self) -> None:
            seen.append((self.path, self.headers["Authorization"]))
            self.answer(404 if self.path == "/robots.txt" else 200, f"<p>{'Letters of the bank about a loan. ' * 20}")

        def do_POST(self) -> None:
            seen.append((self.path, "POST"))
            self.answer(500, "")

    (tmp_path / "logins.toml").write_text('[hosts."127.0.0.1"]\nuser = "ann"\npassword = "secret"\n')
    (tmp_path / "logins.toml").chmod(0o600)
    with listening(Site) as port:
        judge = {
            "TOPIC_RELEVANCE": "llm",
            "JUDGE_URL": f"http://127.0.0.1:{port}/v1",
            "JUDGE_MODEL": "m",
            "JUDGE_UNSURE": 1e6,
        }
        logins = {"CRAWL_LOGINS": tmp_path / "logins.toml", "VIRTUAL_WEB": ""}
        with companion(tmp_path, **judge, **logins, **local(port)) as service:
            service.ask("/api/page", {"url": f"http://127.0.0.1:{port}/", "html": "<p>coral reefs and eels of the sea"})
            service.until(lambda panel: panel["fetched"] == 2)
            service.until(lambda panel: ("/", None) in seen)
            time.sleep(1.0)
    assert seen == [("/robots.txt", None), ("/", None)]


def test_what_keeps_it_from_starting(tmp_path: Path) -> None:
    with companion(tmp_path) as service:
        port = service.base.rpartition(":")[2]
        taken = scrapy("companion", "--port", port, COMPANION_DIR=tmp_path / "other")
        assert taken.returncode == 2 and "COMPANION_PORT" in taken.stderr and "Traceback" not in taken.stderr
    (tmp_path / "me" / "profile.json").write_text("{")
    damaged = scrapy("companion", COMPANION_DIR=tmp_path / "me", COMPANION_PORT=0)
    assert damaged.returncode == 2 and "delete the file to start over" in damaged.stderr
    wrong = scrapy("companion", COMPANION_ORDERING="bestfirst", COMPANION_DIR=tmp_path / "me2", COMPANION_PORT=0)
    assert wrong.returncode == 2 and "did you mean best_first?" in wrong.stderr
    assert scrapy("companion", "--extension").stdout.strip() == str(EXTENSION)


# ---------------------------------------------------------------- in a browser


@contextmanager
def sample_web_as_proxy(folder: Path) -> Iterator[str]:
    """The sample web as a proxy for a browser."""
    process = start("serve", "sample", "--port", 0)
    try:
        for _ in range(600):
            if " on http" in (said := "".join(process.said())):
                break
            time.sleep(0.1)
        yield said.split(" on ")[1].strip()
    finally:
        process.terminate()
        process.wait(40)


@contextmanager
def browser_with_extension(proxy: str) -> Iterator[tuple[Any, str]]:
    """A browser context with the extension, and the address of the extension's files."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium: scripts/install-chromium installs one")
    arguments = [f"--disable-extensions-except={EXTENSION}", f"--load-extension={EXTENSION}", f"--proxy-server={proxy}"]
    arguments += ["--no-sandbox", "--disable-features=DisableLoadExtensionCommandLineSwitch"]
    with playwright.sync_playwright() as driver:
        context = driver.chromium.launch_persistent_context(
            "", executable_path=CHROMIUM, headless=True, ignore_default_args=["--disable-extensions"], args=arguments
        )
        try:
            for _ in range(100):
                if context.service_workers:
                    break
                time.sleep(0.1)
            else:
                pytest.skip("this browser loads no extension from the command line")
            yield context, context.service_workers[0].url.rpartition("/")[0]
        finally:
            context.close()


def test_the_extension_tells_what_is_read_and_shows_what_lies_ahead(tmp_path: Path) -> None:
    with (
        companion(tmp_path, COMPANION_ORDERING="dom") as service,
        sample_web_as_proxy(tmp_path) as proxy,
        browser_with_extension(proxy) as (context, files),
    ):
        panel = context.new_page()
        watcher = Watcher(panel)
        panel.set_viewport_size(PANEL)
        panel.goto(f"{files}/panel.html")
        wait_until(panel, "!document.getElementById('pair').hidden")
        port, _, key = service.address.rpartition(":")[2].partition("/#")
        for typed, told in (("example.org", "not the address"), (f"127.0.0.1:{port}", "key is missing")):
            panel.fill("#address", typed)
            panel.click("#pair button")
            wait_until(panel, f"document.getElementById('error').textContent.includes({told!r})")
        panel.fill("#address", f"localhost:1/#{key}")  # nothing listens there
        panel.click("#pair button")
        wait_until(panel, "document.getElementById('status').textContent.includes('not running')")
        panel.fill("#address", f"localhost:{port}")  # the key is known
        panel.click("#pair button")
        wait_until(panel, "document.getElementById('status').textContent.startsWith('No page')")

        tab = context.new_page()
        tab.goto(NACRE)
        tab.bring_to_front()
        service.until(lambda found: found["page"] and found["page"]["url"] == NACRE)
        service.until(lambda found: found["page"]["seconds"] >= 10)  # the extension reports every quarter of a minute
        assert "Reef" in json.dumps(service.panel()["interests"]) or "reef" in json.dumps(service.panel()["interests"])
        service.until(has_suggestions)

        panel.bring_to_front()
        wait_until(panel, "document.getElementById('suggestions').innerText.includes('like pages you stayed on: ')")
        assert "by “" in panel.inner_text("#suggestions") and fits(panel)
        before = panel.inner_text("#suggestions li a >> nth=0")
        panel.click("#suggestions li >> nth=0 >> text=Dismiss")
        wait_until(panel, f"!document.getElementById('suggestions').innerText.includes({json.dumps(before)})")
        assert json.loads((service.me / "profile.json").read_text())["dismissed"]

        tab.bring_to_front()
        tab.evaluate("document.title = 'half an emoji \\ud83d'; history.pushState(null, '', '/half')")
        service.until(lambda found: found["page"]["url"] == f"{NACRE}half")
        tab.set_content("<form><input type=password></form>")  # a login page
        tab.evaluate("history.pushState(null, '', '/login')")
        service.until(lambda found: found["page"] is None)
        assert [problem for problem in watcher.problems if "ERR_UNSAFE_PORT" not in problem] == []


def test_without_an_extension_the_panel_is_a_page_and_the_bookmarklet_asks_first(tmp_path: Path) -> None:
    with companion(tmp_path) as service, browser() as chromium:
        panel = chromium.new_page(viewport=PANEL)
        watcher = Watcher(panel)
        panel.goto(service.address)
        wait_until(panel, "document.getElementById('status').textContent.startsWith('No page')")
        assert panel.url == f"{service.base}/"  # the token is not left in the address
        panel.click("#bookmark summary")
        assert panel.get_attribute("#bookmarklet", "href").startswith("javascript:void open(")

        panel.goto(f"{service.base}/#page={NACRE}&title=Nacre")
        panel.reload()
        panel.goto("about:blank")
        panel.goto(f"{service.base}/#page={NACRE}&title=Nacre")
        wait_until(panel, "!document.getElementById('offer').hidden")
        assert service.panel()["page"] is None  # any page could have opened this one
        panel.click("#offer button")
        wait_until(panel, "document.querySelectorAll('#suggestions li').length > 0")
        panel.click("#save")
        wait_until(panel, "document.getElementById('save').textContent === 'Saved'")
        assert service.panel()["saved"] is True and fits(panel)

        panel.click("#pause")
        wait_until(panel, "document.getElementById('status').textContent.startsWith('Paused')")
        panel.click("#known summary")
        panel.click("#forget")
        panel.click("#forget")
        wait_until(panel, "document.getElementById('words').children.length === 0")
        assert not (service.me / "profile.json").exists()
        assert watcher.problems == [] and all(url.startswith(service.base) for url in watcher.requests if "://" in url)


def test_a_page_of_the_web_cannot_ask_the_companion(tmp_path: Path) -> None:
    with companion(tmp_path) as service, browser() as chromium:
        page = chromium.new_page()
        page.route("http://evil.example/*", lambda route: route.fulfill(body="<p>hello</p>", content_type="text/html"))
        page.goto("http://evil.example/")
        asked = """([url, token]) => fetch(url, {method: 'POST', body: '{"url": "http://evil.example/"}',
            headers: {'Content-Type': 'application/json', 'X-Companion-Token': token}}).then(r => r.status, () => 'refused')"""
        assert page.evaluate(asked, [f"{service.base}/api/page", service.token]) == "refused"
        assert service.panel()["page"] is None
