"""Requests of pages in a real Chromium to other hosts: each server sees one request at a time, with rests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.browser import CHROMIUM
from support.crawling import crawl, stored, topic_file
from support.webs import LATE, DictWeb, by_host, gaps, page, robots

from benchmarks.scripted_web import SHELL
from crawlproject.http.virtual_web_server import AccessLog, read_log, running
from crawlproject.parts.rendering.browser_requests import MOST_ELSEWHERE
from crawlproject.records import Reply

DELAY = 0.3
TEXT = "coral reef fish polyp lagoon atoll diver current kelp sponge shoal tide " * 3
HAMMER = """
for (let n = 0; n < 90; n++) fetch("http://third.example/data?" + n).catch(() => 0);
fetch("http://third.example/private").catch(() => 0);
"""
SHOW = """
fetch("http://api.example" + location.pathname).then((answer) => answer.json()).then((said) => {
  document.getElementById("root").innerHTML = "<p>" + said.text + "</p>";
});
"""


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: scripts/install-chromium installs one")
def test_a_page_hammers_no_other_host_and_one_with_scripts_from_elsewhere_is_rendered(tmp_path: Path) -> None:
    script, data = {"content-type": "text/javascript"}, {"content-type": "application/json"}
    open_to_all = {**data, "access-control-allow-origin": "*"}
    entries = dict([page(f"http://third.example/p{n}", text="reef") for n in range(8)])
    entries |= dict([robots("http://third.example", "User-agent: *\nDisallow: /private\n")])
    for name, source in (
        ("bad", "/static/js/main.1f2e3d4c.js"),
        ("worse", "/static/js/main.1f2e3d4c.js"),
        ("good", "http://cdn.example/app.js"),
    ):
        shell = SHELL.replace("/static/js/main.1f2e3d4c.js", source)
        assert source in shell
        url = f"http://{name}.example/0"
        entries[url] = Reply(url, 200, {"content-type": "text/html"}, shell.encode())
        entries[f"http://{name}.example/static/js/main.1f2e3d4c.js"] = Reply("", 200, script, HAMMER.encode())
    entries["http://cdn.example/app.js"] = Reply("", 200, script, SHOW.encode())
    entries["http://api.example/0"] = Reply("", 200, open_to_all, json.dumps({"text": TEXT}).encode())
    for n in range(90):
        url = f"http://third.example/data?{n}"
        entries[url] = Reply(url, 200, open_to_all, b"{}")
    seeds = [*(f"http://{name}.example/0" for name in ("bad", "worse", "good")), "http://third.example/p0"]
    links = "".join(f"<a href=/p{n}>coral reef</a>" for n in range(8))
    entries["http://third.example/p0"] = Reply(
        "", 200, {"content-type": "text/html"}, f"<p>coral reef {links}".encode()
    )
    settings = {"CRAWL_RENDER": "needed", "CRAWL_RENDER_SECONDS": 10, "POLITENESS_MIN_DELAY": DELAY}
    folder = tmp_path / "crawl"
    with AccessLog(tmp_path / "log") as log, running(DictWeb(entries), latency=True, log=log) as server:
        done = crawl(topic_file(tmp_path, *seeds), folder, port=server.port, **settings)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    requests = by_host(read_log(tmp_path / "log"))
    asked = [access["url"] for access in requests["third.example"]]
    assert stored(folder) >= {"http://good.example/0", *(f"http://third.example/p{n}" for n in range(8))}
    assert 10 < sum("/data" in url for url in asked) <= 2 * MOST_ELSEWHERE
    assert asked.count("http://third.example/robots.txt") == 1 and "http://third.example/private" not in asked
    for host in ("third.example", "cdn.example", "api.example"):
        assert min(gaps(requests[host])) >= DELAY - LATE, host
    counted = json.loads((folder / "crawl.json").read_text())["stats"]
    assert counted["render/requests/blocked/elsewhere"] > 50
