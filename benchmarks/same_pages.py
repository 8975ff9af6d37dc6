"""Does a crawl store the same pages whether its web answers in process or over sockets?

    python -m benchmarks.same_pages WEB TOPIC... [--pages 200] [--ordering dom]

Each topic is crawled twice with one request at a time and no pauses: with ``VIRTUAL_WEB=WEB``, and through a proxy on loopback
that serves WEB. Prints a line a topic; exit code 1 when any pair differs in pages or their order.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from crawlproject.adapters.subcommand import cache_dir
from crawlproject.http.virtual_web_server import running
from crawlproject.webs.open import open_web

ROOT = Path(__file__).resolve().parent.parent
ONE_AT_A_TIME = {"CONCURRENT_REQUESTS": 1, "POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, "RETRY_ENABLED": False}


def crawl(topic: Path, folder: Path, settings: dict[str, object], port: int | None = None) -> list[str]:
    """The URLs of the stored pages in the order of their fetches."""
    chosen = {**ONE_AT_A_TIME, **settings, "CRAWL_DIR": folder, "CRAWL_PROGRESS_SECONDS": 0, "LOG_LEVEL": "ERROR"}
    options = [part for name, value in chosen.items() for part in ("-s", f"{name}={value}")]
    proxy = f"http://127.0.0.1:{port}"  # also for https, which the proxy refuses: nothing leaves this machine
    environment = dict(os.environ) | ({"http_proxy": proxy, "https_proxy": proxy} if port else {})
    command = [sys.executable, "-m", "scrapy", "crawl", "topical", "-a", f"topic={topic}", *options]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stderr=subprocess.DEVNULL)
    visits = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
    return [visit["url"] for visit in visits if visit["md5"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("web")
    parser.add_argument("topics", nargs="+", type=Path)
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--ordering", default="dom")
    chosen = parser.parse_args()
    settings = {"CRAWL_MAX_PAGES": chosen.pages, "ORDERING": chosen.ordering}
    different = 0
    with running(open_web(chosen.web, cache_dir=cache_dir())) as server, tempfile.TemporaryDirectory() as name:
        for topic in chosen.topics:
            folder = Path(name) / topic.stem
            inside = crawl(topic.resolve(), folder / "virtual", {**settings, "VIRTUAL_WEB": Path(chosen.web).resolve()})
            outside = crawl(topic.resolve(), folder / "sockets", settings, server.port)
            same, in_order = set(inside) == set(outside), inside == outside
            different += not in_order
            print(
                f"{topic.stem:28}{len(inside):6}{len(outside):6}  same pages: {same}, same order: {in_order}",
                flush=True,
            )
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
