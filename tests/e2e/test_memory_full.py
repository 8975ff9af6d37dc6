"""Memory runs out: one message, exit code 3, no page is blamed; with more memory nothing is lost or doubled."""

from __future__ import annotations

import resource
import subprocess
from collections import Counter
from pathlib import Path

from support.crawling import QUICK, ROOT, command, crawl, environment, history, topic_file

from benchmarks.linked_web import LinkedWeb
from crawlproject.http.virtual_web_server import running

LIMIT = 700 * 2**20  # bytes of address space, more than half of it used from the start
PAGES, LINKS = 100, 2_000


def wide_web() -> LinkedWeb:
    """Pages with so many links that the frontier grows by megabytes a page."""
    pages = [f"http://h{number}.example/" for number in range(PAGES)]
    links = {url: [f"{url}{'x' * 1500}{number}" for number in range(LINKS)] for url in pages}
    return LinkedWeb({"http://portal.example/": pages, **links}, 0.0)


def test_a_crawl_that_runs_out_of_memory_loses_nothing(tmp_path: Path) -> None:
    folder, topic, web = tmp_path / "crawl", topic_file(tmp_path, "http://portal.example/"), wide_web()
    settings = {**QUICK, "CRAWL_DIR": folder, "FRONTIER_MAX_URLS": 0, "PAGE_MAX_BYTES": 2**23, "CONCURRENT_REQUESTS": 4}
    settings |= {"TRAP_MAX_URL_LENGTH": 0, "FRONTIER": "memory"}  # the one on disk stays below the limit
    with running(web) as server:
        ended = subprocess.run(
            command("crawl", "topical", "-a", f"topic={topic}", "-a", "ordering=dom", **settings),
            cwd=ROOT,
            env=environment(server.port),
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT)),
        )
        assert ended.returncode == 3, ended.stderr
        told = [line for line in ended.stderr.splitlines() if "ERROR" in line]
        assert len(told) == 1 and "(address space). The crawl stops; give it more memory" in told[0], ended.stderr
        assert "Traceback" not in ended.stderr, ended.stderr
        before = history(folder)
        assert before and len(before) < PAGES and not [line for line in before if line["error"]]
        del settings["CRAWL_DIR"]
        done = crawl(topic, folder, port=server.port, **{**settings, "CRAWL_MAX_PAGES": len(before) + 5})
    assert done.returncode == 0, done.stderr
    after = history(folder)
    assert after[: len(before)] == before and len(after) == len(before) + 5
    assert max(Counter(line["url"] for line in after).values()) == 1
    assert not [line for line in after if line["error"]]
