"""A web as a folder without sockets and behind a server: one request at a time stores the same pages in the same order."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from support.crawling import crawl, history, topic_file
from support.webs import html

from crawlproject.http.virtual_web_server import running
from crawlproject.webs.open import HostFolder

HOSTS, PAGES, BUDGET = 12, 6, 40


def write_web(folder: Path) -> Path:
    """Pages of 12 hosts with a few links each, some about reefs; every third host has a robots.txt."""
    random = Random(3)
    names = [(f"h{h}.example", "index.html" if not p else f"{p}.html") for h in range(HOSTS) for p in range(PAGES)]
    for number, (host, name) in enumerate(names):
        links = [f"http://{other}/{file}" for other, file in random.sample(names, 4)] + ["gone.html", "/2.html#part"]
        words = random.sample(["coral", "reef", "polyp", "steam", "engine", "train"], 3)
        path = folder / host / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(html(*links, text=" ".join(words), title=f"Page {number}"))
        if int(host[1:-8]) % 3 == 0:
            (folder / host / "robots.txt").write_text("User-agent: *\nDisallow: /4.html\n")
    return folder


@pytest.mark.parametrize(("ordering", "frontier"), [("best_first", "memory"), ("dom", "memory"), ("dom", "disk")])
def test_a_virtual_web_and_sockets_store_the_same_pages(tmp_path: Path, ordering: str, frontier: str) -> None:
    """This holds for any frontier of the virtual web; the crawl of the server uses the frontier in memory."""
    web = write_web(tmp_path / "web")
    topic = topic_file(tmp_path, *(f"http://h{h}.example/" for h in range(3)))
    settings = {"ordering": ordering, "CONCURRENT_REQUESTS": 1, "CRAWL_MAX_PAGES": BUDGET}
    direct = crawl(topic, tmp_path / "direct", VIRTUAL_WEB=web, FRONTIER=frontier, **settings)
    with running(HostFolder(web)) as server:
        served = crawl(topic, tmp_path / "served", port=server.port, **settings)
    assert direct.returncode == served.returncode == 0, direct.stderr + served.stderr
    one, other = history(tmp_path / "direct"), history(tmp_path / "served")
    same = (
        "url",
        "status",
        "score",
        "relevance",
        "depth",
        "parent",
        "context_score",
        "md5",
        "digest",
        "error",
        "redirect",
    )
    assert [[line[key] for key in same] for line in one] == [[line[key] for key in same] for line in other]
    assert sum(bool(line["md5"]) for line in one) == BUDGET and any(line["status"] == 404 for line in one)
    assert not any(line["url"].endswith(("h0.example/4.html", "h3.example/4.html")) for line in one)
