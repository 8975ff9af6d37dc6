"""Pages behind the controls of third-party widgets: links found with and without clicks, and the cost of a page.

    npm install gridjs datatables.net jquery swagger-ui-dist rapidoc
    python -m benchmarks.clicks node_modules [--clicks 0 10 50] [--pages 6] [--json FILE]

Each widget is a site of pages with 40 links each, set up as its readme says: tables with a pager, an API with operations
that unfold. ``found`` is the share of these links that the crawl has seen, ``seconds`` the median time of a page with its
rendering, ``cpu`` the CPU seconds of the crawl and its browser per page, ``kinds`` the kinds of controls that were clicked and
brought something, over all pages. Each figure comes from one crawl, without pauses.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from benchmarks.rendering import Meter
from crawlproject.http.virtual_web_server import running
from crawlproject.records import Reply
from crawlproject.webs.base import not_held

ROOT = Path(__file__).resolve().parent.parent
LINKS = 40  # of a page
WIDGETS = {
    "gridjs": """<div id=here></div><script src="/npm/gridjs/dist/gridjs.umd.js"></script><script>
const then = (found) => found.map((url) => [url, gridjs.html(`<a href="${url}">coral reef ${url}</a>`)]);
new gridjs.Grid({ columns: ["Reef", "Page"], pagination: { limit: 8 }, server: { url: "/data" + location.pathname, then } })
  .render(document.getElementById("here"));
</script>""",
    "datatables": """<table id=here></table><script src="/npm/jquery/dist/jquery.min.js"></script>
<script src="/npm/datatables.net/js/dataTables.min.js"></script><script>
new DataTable("#here", { ajax: { url: "/data" + location.pathname, dataSrc: "" }, columns: [
  { title: "Reef", data: null, render: (url) => `<a href="${url}">coral reef ${url}</a>` }] });
</script>""",
    "swagger": """<div id=here></div><script src="/npm/swagger-ui-dist/swagger-ui-bundle.js"></script><script>
SwaggerUIBundle({ url: "/api" + location.pathname, dom_id: "#here" });
</script>""",
    "rapidoc": """<script type=module src="/npm/rapidoc/dist/rapidoc-min.js"></script><script>
const doc = document.body.appendChild(document.createElement("rapi-doc"));
doc.setAttribute("render-style", "view");
doc.setAttribute("spec-url", "/api" + location.pathname);
</script>""",
}


class WidgetWeb:
    """A site of ``pages`` pages with a ``widget``; ``modules`` is the folder of npm packages."""

    warnings: Sequence[str] = ()

    def __init__(self, modules: Path, widget: str, pages: int) -> None:
        self._modules = modules.resolve()
        self._widget = widget
        self.seeds = [f"http://{widget}.example/{page}" for page in range(pages)]

    def links(self, page: str) -> list[str]:
        return [f"{page}/{number}" for number in range(LINKS)]

    def get(self, url: str) -> Reply:
        path = urlsplit(url).path
        if path.startswith("/npm/"):
            script = (self._modules / path[5:]).resolve()
            if script.is_relative_to(self._modules) and script.is_file():
                return Reply(url, 200, {"content-type": "text/javascript"}, script.read_bytes())
        if path.startswith("/data/"):
            return self._json(url, self.links(path[5:]))
        if path.startswith("/api/"):
            said = {"responses": {"200": {"description": "fish"}}}
            paths = {
                link: {"get": {**said, "summary": f"reef {link}", "description": f"See [coral reef {link}]({link})."}}
                for link in self.links(path[4:])
            }
            return self._json(url, {"openapi": "3.0.0", "info": {"title": "Reefs", "version": "1"}, "paths": paths})
        if url in self.seeds:
            html = f"<!doctype html><html lang=en><title>{url}</title><body><h1>Coral reef fish</h1>{WIDGETS[self._widget]}"
            return Reply(url, 200, {"content-type": "text/html; charset=utf-8"}, html.encode())
        return not_held(url)

    def _json(self, url: str, said: object) -> Reply:
        return Reply(url, 200, {"content-type": "application/json"}, json.dumps(said).encode())

    def urls(self) -> Iterator[str]:
        return iter(self.seeds)

    def __contains__(self, url: str) -> bool:
        return self.get(url).status == 200

    def close(self) -> None:
        return None


def run(web: WidgetWeb, folder: Path, clicks: int) -> dict[str, Any]:
    """The figures of one crawl."""
    folder.mkdir()
    topic = folder / "topic.toml"
    topic.write_text(f'keywords = ["coral reef fish"]\nseeds = {json.dumps(web.seeds)}\n')
    settings = {
        "CRAWL_DIR": folder / "crawl",
        "CRAWL_RENDER": "always",
        "CRAWL_RENDER_CLICKS": clicks,
        "CRAWL_SITE_BUDGET": 0,
        "PAGE_MAX_BYTES": 2**22,
        "POLITENESS_MIN_DELAY": 0,
        "POLITENESS_FACTOR": 0,
        "TRAP_TEMPLATES": 0,
        "LOG_LEVEL": "ERROR",
    }
    chosen = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "crawl", "topical", "-a", f"topic={topic}", *chosen]
    with running(web) as server:
        proxy = f"http://127.0.0.1:{server.port}"
        process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, "http_proxy": proxy}, stderr=subprocess.DEVNULL
        )
        meter = Meter(process.pid)
        while process.poll() is None:
            meter.look()
            time.sleep(0.1)
    visits = [json.loads(line) for line in (folder / "crawl" / "history.jsonl").read_text().splitlines()]
    pages = [visit for visit in visits if visit["url"] in web.seeds]
    wanted = {link for page in pages for link in web.links(page["url"])}
    kinds = [gain for page in pages for name, gain in page["signs"].items() if name.startswith("clicked/")]
    return {
        "clicks": clicks,
        "found": round(len(wanted & {visit["url"] for visit in visits}) / len(wanted), 3),
        "seconds": round(median(page["seconds"] for page in pages), 2),
        "cpu": round(meter.seconds / len(pages), 2),
        "kinds": f"{sum(kinds):g} of {len(kinds)}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", type=Path, help="a folder of packages")
    parser.add_argument("--clicks", type=int, nargs="+", default=[0, 10, 50])
    parser.add_argument("--pages", type=int, default=6, help="of a widget")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for widget, clicks in product(WIDGETS, asked.clicks):
            web = WidgetWeb(asked.modules, widget, asked.pages)
            rows.append({"widget": widget} | run(web, Path(folder) / f"{widget}-{clicks}", clicks))
            print(json.dumps(rows[-1]), flush=True)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
