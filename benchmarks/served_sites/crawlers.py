"""The crawlers in the comparison, each a process that sends its requests to nginx: ours, ``wget -r``, a plain CrawlSpider."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import md5
from pathlib import Path

from benchmarks.served_sites.access import Access
from benchmarks.served_sites.front import Front
from benchmarks.served_sites.site import Site
from crawlproject.storage.read import read_visits

ROOT = Path(__file__).resolve().parents[2]
SEEN = "bodies.txt"  # the MD5 of each page that the plain spider got
# Files that no crawler here needs, excluded so that fetches compare; ours and Scrapy's leave these out by default.
NO_PAGES = "css,js,mjs,map,json,png,jpg,jpeg,gif,svg,ico,webp,bmp,pdf,ps,gz,tgz,bz2,xz,zip,tar,jar,deb,woff,woff2,ttf,eot,mp3,mp4"

_GRACE = 60.0  # seconds that a crawler has to end after the signal


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl: its requests, whether it ended on its own, its duration, and its folder."""

    crawler: str
    accesses: Sequence[Access]
    ended: bool
    seconds: float
    folder: Path

    @property
    def gap(self) -> float:
        """The longest time from the end of an answer to the start of the next request."""
        starts = sorted(access.at - access.seconds for access in self.accesses)
        ends = sorted(access.at for access in self.accesses)
        return max((start - end for end, start in zip(ends, starts[1:], strict=False)), default=0.0)


def ours(site: Site, folder: Path, settings: Sequence[str]) -> list[str]:
    """Our crawler with a topic file of one seed, which stays on the site as the others do."""
    topic = folder / "topic.toml"
    topic.write_text(
        f"keywords = {json.dumps(list(site.keywords))}\nseeds = [{json.dumps(site.seed)}]\n"
        f"[crawl]\nCRAWL_ALLOWED_DOMAINS = [{json.dumps(site.host)}]\n"
    )
    chosen = [
        f"CRAWL_DIR={folder / 'crawl'}",
        "CRAWL_PROGRESS_SECONDS=0",
        "POLITENESS_MIN_DELAY=0",
        "POLITENESS_FACTOR=0",
    ]
    options = [part for setting in [*chosen, *site.settings, *settings] for part in ("-s", setting)]
    return [sys.executable, "-m", "scrapy", "crawl", "topical", "-a", f"topic={topic}", *options]


def wget(site: Site, folder: Path, settings: Sequence[str]) -> list[str]:
    """``wget -r`` without a limit of depth."""
    files = folder / "files"
    limits = ["--tries=1", "--timeout=60"]
    return ["wget", "-r", "-l", "inf", "-nv", "-nH", "-R", NO_PAGES, *limits, "-P", str(files), site.seed]


def plain(site: Site, folder: Path, settings: Sequence[str]) -> list[str]:
    """Scrapy's CrawlSpider with a rule that follows all links within the site."""
    return [sys.executable, "-m", "benchmarks.served_sites.plain_crawl", site.seed, site.host, str(folder / SEEN)]


CRAWLERS: dict[str, Callable[[Site, Path, Sequence[str]], list[str]]] = {"ours": ours, "wget": wget, "plain": plain}


def crawl(name: str, site: Site, front: Front, folder: Path, limit: Limit, settings: Sequence[str]) -> Run:
    """Run one crawl of a site; stop it when it has used up its fetches or its seconds."""
    folder.mkdir(parents=True)
    command = CRAWLERS[name](site, folder, settings)
    before, start = front.count(), time.monotonic()
    with (folder / "output.txt").open("wb") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, "http_proxy": front.proxy}, stdin=subprocess.DEVNULL,
            stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
        ended = _wait(process, lambda: limit.is_reached(front.count() - before, time.monotonic() - start))
    seconds = time.monotonic() - start
    time.sleep(0.2)  # until nginx has written the last line
    return Run(name, front.accesses(before), ended, seconds, folder)


@dataclass(frozen=True, slots=True)
class Limit:
    """The budget of a crawl."""

    fetches: int
    seconds: float

    def is_reached(self, fetches: int, seconds: float) -> bool:
        return fetches >= self.fetches or seconds >= self.seconds


def _wait(process: subprocess.Popen[bytes], is_over: Callable[[], bool]) -> bool:
    while process.poll() is None:
        if is_over():
            _end(process)
            return False
        time.sleep(0.2)
    return True


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def bodies(run: Run) -> list[str]:
    """The MD5 of each HTML page that a crawler got, to count copies."""
    if run.crawler == "ours":
        visits = read_visits(run.folder / "crawl")
        return [
            visit.digest for visit in visits if visit.status == 200 and visit.digest and "html" in visit.content_type
        ]
    if run.crawler == "plain":
        seen = run.folder / SEEN
        return seen.read_text().split() if seen.exists() else []
    files = (path for path in (run.folder / "files").rglob("*") if path.is_file())
    contents = (path.read_bytes() for path in files)
    return [md5(content).hexdigest() for content in contents if b"<html" in content[:2000].lower()]
