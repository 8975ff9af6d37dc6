"""Content behind the controls of a page, found with a real Chromium; and controls that must not be clicked."""

# ruff: noqa: E501  # lines of HTML
from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.browser import CHROMIUM
from support.crawling import crawl, history, scrapy, topic_file
from support.httpserver import QuietHandler, listening

TEXT = "coral reef fish polyp lagoon atoll diver current kelp sponge shoal tide"
MORE, MINE, WIKI, ROWS, HARM, LOOP, BLANK = (
    f"http://{name}.example/" for name in ("more", "mine", "wiki", "rows", "harm", "loop", "blank")
)
PAGES = {
    MORE: f"""<h1>Coral reefs</h1><p>{TEXT}</p><ul id=list><li><a href=/0>reef 0</a></li></ul>
<iframe src=/frame></iframe><button class="btn load">Load more posts</button>
<script>
let page = 0;
document.querySelector(".load").onclick = async () => {{
  const found = await (await fetch(`/api/${{++page}}`)).json();
  list.insertAdjacentHTML("beforeend", found.map((n) => `<li><p>coral fish ${{n}}</p><a href=/${{n}}>reef ${{n}}</a></li>`).join(""));
}};
</script>""",
    WIKI: f"""<h1>Reefs</h1><p>{TEXT * 9}</p>
<div role=tablist><a role=tab href="#one" aria-selected=true>One</a><a role=tab href="#two">Two</a></div>
<div id=panel><p>the first panel <a href=/first>coral</a></p></div>
<details><summary>Depths</summary><div class=inside></div></details><a href="javascript:more()">Names</a><p id=names></p>
<span onclick="location = '/left'">Elsewhere</span><div role=button onclick="own()">Own</div>
<my-box></my-box>
<script>
const tabs = document.querySelectorAll("[role=tab]");
tabs.forEach((tab) => tab.addEventListener("mousedown", () => {{
  tabs.forEach((each) => each.setAttribute("aria-selected", each === tab));
  panel.innerHTML = `<p>panel ${{tab.textContent}} of {TEXT} <a href=/panel-${{tab.textContent}}>fish</a></p>`;
}}));
document.querySelector("details").addEventListener("toggle", (event) => {{
  event.target.querySelector(".inside").innerHTML = "<p>Down there <a href=/deep>coral</a></p>";
}});
let before = "";
window.own = () => {{ before = panel.innerHTML; panel.innerHTML = "own page"; history.pushState(0, "", "/own"); }};
window.onpopstate = () => {{ if (before) panel.innerHTML = before; before = ""; }};
window.more = () => void setTimeout(() => {{ names.innerHTML = "<a href=/name>coral fish</a>"; }}, 500);
customElements.define("my-box", class extends HTMLElement {{
  connectedCallback() {{
    this.attachShadow({{ mode: "open" }}).innerHTML = "<button>Show</button><p></p>";
    this.shadowRoot.querySelector("button").onclick = () => {{
      this.shadowRoot.querySelector("p").innerHTML = "<a href=/shadow>coral</a>";
    }};
  }}
}});
</script>""",
    ROWS: f"""<h1>Reefs</h1><p>{TEXT * 9}</p><p id=row></p><nav id=pager></nav><script>
const show = (shown) => {{
  row.innerHTML = `row ${{shown}} <a href=/${{shown}}>coral reef</a>`;
  pager.innerHTML = [1, 2, 3, 4, 5, 6].map((each) => `<button onclick="show(${{each}})">${{each}}</button>`).join("");
}};
show(1);
</script>""",
    HARM: f"""<h1>Reefs</h1><p>{TEXT}</p><a href="/plain">coral</a>
<a href="#" onclick="said('logout')">Log out</a><button onclick="said('delete')"><img alt="Delete"></button>
<button class="js-buy" onclick="said('buy')">Now</button><form action=/sent><input name=q><button>Go</button><input type=reset></form>
<form id=other action=/sent></form><button form=other>Search</button>
<button class=a onclick="fetch('/posted', {{method: 'POST', headers: {{'Content-Type': 'application/json'}}, body: '{{}}'}})">Show</button>
<button class=b onclick="list()">List</button>
<button class=c onclick="go()">All</button>
<button class=d onclick="each()">Each</button>
<button class=e onclick="window.open('/window')">Window</button>
<button class=f onclick="navigator.sendBeacon('/beacon')">Beacon</button>
<script>
const said = (name) => fetch("/said-" + name), list = () => fetch("/cart/add").finally(() => fetch("/fine"));
const [form] = document.forms, go = () => form.submit(), each = () => form.requestSubmit();
</script>""",
    LOOP: f"""<h1>Reefs</h1><p>{TEXT}</p><button class=a onclick="history.back()">Back</button>
<button class=b onclick="document.body.innerHTML = ''; while (true) {{}}">Loop</button>""",
    BLANK: f"""<h1>Reefs</h1><p>{TEXT}</p><button onclick="location = 'about:blank'">Blank</button>""",
}

PAGES[MINE] = PAGES[MORE]


class Web:
    """Sites whose pages have controls, served by a proxy."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def answer(self, method: str, url: str) -> tuple[int, str, str]:
        self.asked.append((method, url))
        if url in PAGES:
            return 200, "text/html", f"<!doctype html><html lang=en><title>Reefs</title><body>{PAGES[url]}"
        if url.startswith((f"{MORE}api/", f"{MINE}api/")):
            first = 3 * int(url.rpartition("/")[2])
            return 200, "application/json", json.dumps([*range(first, first + 3)] if first < 9 else [])
        if url.endswith("/frame"):
            return 200, "text/html", f"<p>The frame is about {TEXT}"
        return 404, "text/html", ""


@contextmanager
def serving(web: Web) -> Iterator[int]:
    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, kind, body = web.answer(self.command, self.path)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        do_POST = do_GET

    with listening(Handler) as port:
        yield port


class Crawled(NamedTuple):
    folder: Path
    asked: list[tuple[str, str]]

    def body(self, url: str) -> str:
        md5 = next(line["md5"] for line in history(self.folder) if line["url"] == url)
        return (self.folder / "pages" / md5[:2] / md5[2:4] / md5).read_text()

    def found(self, site: str) -> set[str]:
        """The requested paths of a site, without robots.txt and the data of its scripts."""
        paths = {url.removeprefix(site) for _, url in self.asked if url.startswith(site)}
        return {path for path in paths if path != "robots.txt" and not path.startswith("api/")}


def crawled(place: Path, clicks: int, *seeds: str) -> Crawled:
    if CHROMIUM is None:
        pytest.skip("no Chromium: scripts/install-chromium installs one")
    web = Web()
    (place / "logins.toml").write_text('[hosts."http://mine.example".headers]\nX-Key = "k"\n')
    with serving(web) as port:
        done = crawl(
            topic_file(place, *seeds, keywords="coral reef fish"),
            place / "crawl",
            port=port,
            CRAWL_LOGINS=place / "logins.toml",
            CRAWL_RENDER="always",
            CRAWL_RENDER_CLICKS=clicks,
            CRAWL_RENDER_POSTS=5,
            CRAWL_RENDER_SECONDS=40,  # a busy machine is slow
            TRAP_TEMPLATES=0,
        )
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    return Crawled(place / "crawl", web.asked)


@pytest.fixture(scope="module")
def clicked(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    return crawled(tmp_path_factory.mktemp("clicks"), 12, *PAGES)


def test_links_behind_a_button_that_loads_more_are_found(clicked: Crawled) -> None:
    assert clicked.found(MORE) == {"", "0", *map(str, range(3, 9)), "frame"}
    body = clicked.body(MORE)
    assert body.count("coral fish 3") == 1 and body.index("reef 0") < body.index("coral fish 3") < body.index(
        "coral fish 8"
    )
    assert '<li data-click="2"><p>coral fish 7</p>' in body and body.count("frame is about") == 1


def test_links_behind_tabs_summaries_and_other_controls_are_found(clicked: Crawled) -> None:
    found = {"", "first", "panel-Two", "panel-One", "deep", "name", "shadow", "left", "own"}
    assert clicked.found(WIKI) == found
    body = clicked.body(WIKI)
    assert "the first panel" in body and "panel Two of coral" in body, "both states are in the page"
    assert "own page" not in body, "what has an address of its own is a page of its own"


def test_controls_are_known_again_that_scripts_make_anew(clicked: Crawled) -> None:
    assert clicked.found(ROWS) == {"", *map(str, range(1, 7))}
    assert all(clicked.body(ROWS).count(f"row {number} ") == 1 for number in range(1, 7))


def test_what_may_do_harm_is_not_touched(clicked: Crawled) -> None:
    assert clicked.found(HARM) == {"", "plain", "fine", "window", "sent?q="}, "where a click would lead is a link"
    assert {method for method, _ in clicked.asked} == {"GET"}, "not even by CRAWL_RENDER_POSTS"
    stats = json.loads((clicked.folder / "crawl.json").read_text())["stats"]
    assert stats["render/requests/blocked/harmful"] == 1 and stats["render/requests/blocked/POST"] == 2


@pytest.mark.parametrize("url", [LOOP, BLANK])
def test_a_page_that_a_click_destroys_is_as_it_was(clicked: Crawled, url: str) -> None:
    body = clicked.body(url)
    assert "Reefs</h1>" in body and body.startswith("<!DOCTYPE html>"), "rendered"
    assert next(line["seconds"] for line in history(clicked.folder) if line["url"] == url) < 20


def test_a_page_that_came_with_a_login_is_not_clicked(clicked: Crawled) -> None:
    assert clicked.found(MINE) == {"", "0", "frame"} and ("GET", f"{MINE}api/1") not in clicked.asked


def test_what_clicks_brought_is_in_the_history(clicked: Crawled) -> None:
    lines: dict[str, Any] = {line["url"]: line for line in history(clicked.folder)}
    (more,) = [value for name, value in lines[MORE]["signs"].items() if name.startswith("clicked/")]
    assert more == 1.0
    said = scrapy("why", clicked.folder, WIKI).stdout
    assert "6 kinds of its controls clicked there; 6 brought text or links." in said and "clicked/" not in said


def test_nothing_is_clicked_unless_it_is_asked_for(tmp_path: Path) -> None:
    without = crawled(tmp_path, 0, MORE, WIKI)
    assert without.found(MORE) == {"", "0", "frame"} and without.found(WIKI) == {"", "first"}
    assert "data-click" not in without.body(MORE)
    assert not [name for line in history(without.folder) for name in line["signs"] if name.startswith("clicked/")]
