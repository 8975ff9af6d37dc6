"""Fetches a few URLs before the crawl with the crawler itself: politely, and with the same reasons for refusals.

Each preview is a separate crawl, in a temporary folder, that follows no links.
"""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from crawlproject.adapters.subcommand import BAD_INPUT, SCRAPY, STOPPED
from crawlproject.configuration import known_settings, program
from crawlproject.core.address_policy import make_safety
from crawlproject.core.reading import make_reader
from crawlproject.errors import BadInput, TopicalError
from crawlproject.exporting.selection import Item, read_items
from crawlproject.options import Options
from crawlproject.pages.markdown import markdown
from crawlproject.pages.text.relevance import make_analyzer, make_judge
from crawlproject.records import Page, Topic, Visit
from crawlproject.storage.crawl_files import MARKER
from crawlproject.storage.page_files import PageRepository
from crawlproject.storage.read import read_refused, read_visits
from crawlproject.topic.check import NO_SUCH_HOST, SeedPreview
from crawlproject.topic.edits import Draft, topic_text
from crawlproject.urls.canonical import make_canonicalizer
from crawlproject.urls.hosts import host_of

SECONDS = 120.0  # that a preview may take
_OWN = {
    "FRONTIER": "memory",
    "ORDERING": "breadth_first",
    "TOPIC_RELEVANCE": "terms",  # pages are judged in this module, and vectors take seconds to load
    "PAGE_MAX_LINKS": 0,  # links are read from the stored pages
    "CRAWL_MAX_PAGES": 0,
    "CRAWL_MIN_HARVEST": 0,
    "CRAWL_REVISIT": "",
    "CRAWL_PROGRESS_SECONDS": 0,
    "CRAWL_METRICS_PORT": 0,
}


class Preview:
    """Fetches URLs for one topic. ``settings`` are those of the command line; ``folder`` must be empty, and is filled."""

    def __init__(self, topic: Topic, options: Options, settings: Mapping[str, Any], folder: Path) -> None:
        self.topic = topic
        self.analyzer = make_analyzer(topic.language, options)
        self._options = options
        self._settings = settings
        self._folder = folder
        self._judge = make_judge(topic.keywords, self.analyzer, options)
        self._canonicalize = make_canonicalizer(options)
        self._reader = make_reader(options, self.analyzer, self._canonicalize, tag_paths=False)
        self._looks = 0

    def look(self, urls: Sequence[str]) -> list[SeedPreview]:
        """Fetch the URLs and the targets of their redirects. Raises ``BadInput`` if a crawl would refuse to start."""
        if not urls:
            return []
        self._looks += 1
        folder = self._folder / str(self._looks)
        self._crawl(urls, folder)
        visits = {visit.url: visit for visit in read_visits(folder)}
        refused = {url: found.reason for found in read_refused(folder) for url, _ in found.samples}
        pages = PageRepository(folder / "pages")
        return [self._probed(self._canonicalize(url), visits, refused, pages) for url in urls]

    def stored(self, url: str) -> tuple[Item, str]:
        """The item of a page that the last call of ``look`` found, and its main content in Markdown."""
        folder = self._folder / str(self._looks)
        item = next(item for item in read_items(folder) if item["url"] == url)
        body = PageRepository(folder / "pages").load(url)
        return item, markdown(body, url=url, content_type=item["content_type"])

    def sample(self, pages: Sequence[Page], most: int, random: Random) -> list[SeedPreview]:
        """Fetch a random sample of up to ``most`` of the pages that ``pages`` link to.

        Seeds of a crawl may be in the operator's private network, but these links must not be.
        """
        safety = make_safety(self._options, self.topic.seeds)
        known = {page.url for page in pages}
        linked = sorted({link.url for page in pages for link in page.links} - known)
        safe = [url for url in linked if safety.refusal(url) is None]
        return self.look(random.sample(safe, min(most, len(safe))))

    def _crawl(self, urls: Sequence[str], folder: Path) -> None:
        draft = Draft("look", self.topic.keywords, urls, self.topic.language)
        own = {**self._settings, **known_settings(_OWN), "CRAWL_DIR": folder, "CRAWL_MAX_SECONDS": SECONDS}
        own["LOG_LEVEL"] = "ERROR"
        chosen = [part for name, value in own.items() for part in ("-s", f"{name}={_spelled(value)}")]
        command = [*SCRAPY, "crawl", "topical", "-a", f"topic={topic_text(draft)}", *chosen]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        is_over = (folder / MARKER).exists()  # the crawl ran, but no seed led to a page: handled below
        if done.returncode == BAD_INPUT and not is_over:
            raise BadInput("crawl", done.stderr.strip().rpartition(f"{program}: ")[2])
        if done.returncode not in (0, STOPPED, BAD_INPUT):  # STOPPED: no host answered, so pages are missing
            raise TopicalError(f"cannot fetch {len(urls)} pages:\n{done.stderr.strip()}")

    def _probed(
        self, url: str, visits: Mapping[str, Visit], refused: Mapping[str, str], pages: PageRepository
    ) -> SeedPreview:
        visit, landed = visits.get(url), url
        while visit is not None and visit.redirect and visit.redirect in visits and visit.redirect != landed:
            landed = visit.redirect
            visit = visits[landed]
        if visit is None or not visit.md5:
            from crawlproject.reports.evidence import meaning  # takes long to import

            refusal = refused.get(url, refused.get(visit.redirect, "") if visit else "")
            refusal = refusal if visit else self._found(url, refusal)
            return SeedPreview(url, visit, refusal, landed, why=meaning((visit and visit.error) or refusal))
        page = self._reader.read(landed, pages.load(landed))
        return SeedPreview(url, visit, "", landed, self._judge.judge(page))

    def _found(self, url: str, refusal: str) -> str:
        """Why ``url`` was not fetched: ``refusal``, unless its host has no address."""
        if refusal not in ("", "robots/unreachable") or self._options.virtual_web:
            return refusal
        try:
            socket.getaddrinfo(host_of(url), None)
        except OSError:
            return NO_SUCH_HOST
        return refusal or "robots/unreachable"


def _spelled(value: Any) -> str:
    """A value as it is written on the command line."""
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
