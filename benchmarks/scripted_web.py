"""A generated web in which scripts make half of the sites: an empty shell, one script, and the pages as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from crawlproject.records import Reply
from crawlproject.urls.post import Post, post_of
from crawlproject.webs.base import not_held

JSON = {"content-type": "application/json"}
HTML = {"content-type": "text/html; charset=utf-8"}
SHELL = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Club</title></head><body>'
    '<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>'
    '<script src="/static/js/main.1f2e3d4c.js"></script></body></html>'
)
SHOW = """
const show = (page) => {
  document.title = page.title;
  const root = document.getElementById("root");
  root.innerHTML = "<h1>" + page.title + "</h1>" + page.paragraphs.map((text) => "<p>" + text + "</p>").join("");
  setTimeout(() => {
    const list = document.createElement("ul");
    for (const [href, text] of page.links) {
      const link = document.createElement("a");
      link.href = href;
      link.textContent = text;
      list.appendChild(document.createElement("li")).appendChild(link);
    }
    root.append(list);
  }, 500);
};
"""
QUERY = "query Page($path: String) { page(path: $path) { title paragraphs links } }"
POST = f"""
const asked = new URLSearchParams({{ query: "{QUERY}", path: location.pathname }});
fetch("/graphql", {{ method: "POST", body: asked }})
  .then((response) => response.json()).then((found) => show(found.data.page));
"""
FRAME = """
const frame = Object.assign(document.createElement("iframe"), { src: "/frame" + location.pathname });
document.getElementById("root").append(frame);
"""
GET = """fetch("/api" + location.pathname).then((response) => response.json()).then(show);"""
WAYS = {"get": GET, "post": POST, "frame": FRAME}  # how the scripts of a site get its pages
ON = ("coral", "reef", "fish", "polyp", "lagoon", "atoll", "diver", "current", "kelp", "sponge", "shoal", "tide")
OFF = (
    "bridge",
    "engine",
    "railway",
    "signal",
    "timber",
    "mortar",
    "copper",
    "glass",
    "lathe",
    "furnace",
    "cable",
    "valve",
)


class ScriptWeb:
    """``sites`` sites of ``pages`` pages; scripts make those with odd numbers. A third of the pages are about reefs.

    ``ways`` are names of ``WAYS``: the sites made by scripts use them in turn to get their pages.
    """

    warnings: Sequence[str] = ()

    def __init__(self, sites: int = 6, pages: int = 8, seed: int = 1, ways: Sequence[str] = ("get",)) -> None:
        self._random = Random(seed)
        self._ways = ways
        self._pages: dict[str, tuple[str, list[str], list[tuple[str, str]]]] = {}
        self.targets: set[str] = set()
        urls = [[f"http://s{site}.example/{page or ''}" for page in range(pages)] for site in range(sites)]
        about = {url for site in urls for number, url in enumerate(site) if number % 3 == 0}
        for number, site in enumerate(urls):
            for place, url in enumerate(site):
                near = [site[(place + step) % pages] for step in (1, 2, 3)]
                far = [self._random.choice(urls[(number + step) % sites]) for step in (1, 2)]
                self._pages[url] = self._page(url in about, [(to, to in about) for to in near + far])
        self.targets = about
        self.seeds = [urls[0][0], urls[1][0]]

    def _page(self, on_topic: bool, links: list[tuple[str, bool]]) -> tuple[str, list[str], list[tuple[str, str]]]:
        words = ON if on_topic else OFF
        texts = [" ".join(self._random.choice(words) for _ in range(60)) for _ in range(3)]
        anchors = [(to, " ".join(self._random.sample(ON if about else OFF, 3))) for to, about in links]
        return " ".join(words[:3]), texts, anchors

    def is_scripted(self, url: str) -> bool:
        return self._number(url) % 2 == 1

    def _number(self, url: str) -> int:
        return int((urlsplit(url).hostname or "s0.example")[1:].partition(".")[0])

    def _way(self, url: str) -> str:
        return self._ways[self._number(url) // 2 % len(self._ways)]

    def get(self, url: str) -> Reply:
        if post := post_of(url):
            return self._posted(url, post)
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.hostname}"
        if parts.path == "/static/js/main.1f2e3d4c.js":
            return Reply(url, 200, {"content-type": "text/javascript"}, (SHOW + WAYS[self._way(url)]).encode())
        if parts.path.startswith("/api/") and f"{origin}{parts.path[4:]}" in self._pages:
            return Reply(url, 200, JSON, json.dumps(self._data(f"{origin}{parts.path[4:]}")).encode())
        if parts.path.startswith("/frame/") and f"{origin}{parts.path[6:]}" in self._pages:
            return Reply(url, 200, HTML, self._served(f"{origin}{parts.path[6:]}").encode())
        if url not in self._pages:
            return not_held(url)
        return Reply(url, 200, HTML, (SHELL if self.is_scripted(url) else self._served(url)).encode())

    def _posted(self, url: str, post: Post) -> Reply:
        """The answer to a POST request of a script."""
        parts = urlsplit(post.url)
        page = f"{parts.scheme}://{parts.hostname}{dict(parse_qsl(post.body)).get('path')}"
        if parts.path != "/graphql" or page not in self._pages:
            return not_held(url)
        return Reply(url, 200, JSON, json.dumps({"data": {"page": self._data(page)}}).encode())

    def _data(self, url: str) -> dict[str, Any]:
        title, texts, links = self._pages[url]
        return {"title": title, "paragraphs": texts, "links": links}

    def _served(self, url: str) -> str:
        title, texts, links = self._pages[url]
        listed = "".join(f'<li><a href="{to}">{text}</a></li>' for to, text in links)
        paragraphs = "".join(f"<p>{text}</p>" for text in texts)
        return f"<!doctype html><title>{title}</title><body><h1>{title}</h1>{paragraphs}<ul>{listed}</ul></body>"

    def urls(self) -> Iterator[str]:
        return iter(self._pages)

    def __contains__(self, url: str) -> bool:
        return self.get(url).status == 200

    def close(self) -> None:
        return None
