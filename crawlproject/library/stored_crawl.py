"""A crawl folder, opened: its pages, its visits, its index, its explanations."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from crawlproject.configuration import is_code, known_settings, starter_settings
from crawlproject.exporting.selection import Selection
from crawlproject.library.stored_pages import StoredPages
from crawlproject.opening import crawl_folder
from crawlproject.parts.registry import part_module
from crawlproject.records import Topic, Visit
from crawlproject.settings import USER_AGENT
from crawlproject.storage.page_files import PageRepository
from crawlproject.storage.read import CrawlInfo, read_info, read_visits, topic_of

if TYPE_CHECKING:
    from crawlproject.exporting.index import SearchResult


def open_crawl(folder: str | Path) -> StoredCrawl:
    """Open a crawl folder, or the crawl at an address, also one that is running or was killed. Raises ``BadCrawlDir``."""
    return StoredCrawl(folder)


_SHOWING = ("DASHBOARD", "CRAWL_METRICS_", "CRAWL_PROGRESS_SECONDS", "SEARCH_MODEL")


def stored_topic(folder: Path, settings: Mapping[str, Any] | None = None) -> Topic:
    """What is crawled in ``folder``, with these ``settings``: those of topic files are not in it. Raises ``BadCrawlDir``."""
    if (topics := part_module("topics", "topics_log")) is not None:
        return cast(Topic, topics.stored_topic(folder, settings))
    return topic_of(read_info(folder), settings)


def stored_settings(info: CrawlInfo) -> dict[str, Any]:
    """The settings of a stored crawl, parameters of its ordering among them, but for its folder and for what only shows it.

    A port that was free then may be taken now, and nobody looks at a job of cron. Nor does what only its user may set.
    """
    parameters = {f"ORDERING_{name.upper()}": value for name, value in info.parameters.items()}
    settings = {**known_settings(info.settings), **parameters}
    left_out = {"CRAWL_DIR", *settings_of_the_starter(info)}
    return {name: value for name, value in settings.items() if name not in left_out and not name.startswith(_SHOWING)}


def settings_of_the_starter(info: CrawlInfo) -> dict[str, Any]:
    """Those which ``stored_settings`` leaves out, as they run or send something: a folder may be a stranger's."""
    names = [name for name in starter_settings() if not name.startswith(_SHOWING)]
    found = {name: info.settings[name] for name in names if info.settings.get(name)}
    judge = str(info.settings.get("TOPIC_RELEVANCE", ""))
    return {**found, "TOPIC_RELEVANCE": judge} if is_code(judge) else found


class StoredCrawl:
    """A crawl folder. Everything is read when it is asked for, so a running crawl can be followed. Methods raise ``BadCrawlDir``.

    ``folder`` is its path; the folders of several workers are merged when it is opened, and of what is at an address
    the logs are brought.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = crawl_folder(folder)
        read_info(self.folder)

    def __repr__(self) -> str:
        return f"<crawl {self.folder}: {self.topic.name}, {self.ordering}, {self.reason or 'not ended'}>"

    @property
    def topic(self) -> Topic:
        """The topic, without the settings of its file."""
        return topic_of(read_info(self.folder))

    @property
    def ordering(self) -> str:
        """The name of the ordering."""
        return read_info(self.folder).ordering

    @property
    def reason(self) -> str:
        """Why the crawl ended, as ``page budget``; empty while it runs, and after a kill."""
        return read_info(self.folder).reason

    def pages(self, *, min_relevance: float = 0.0, duplicates: bool = False) -> StoredPages:
        """The stored pages with at least this relevance (0 to 1); near-duplicates only if asked for."""
        return StoredPages(self.folder, Selection(min_relevance, duplicates))

    def visits(self) -> Iterator[Visit]:
        """Every finished fetch in the order of the crawl, those without a page included."""
        return read_visits(self.folder)

    def body(self, url: str) -> bytes:
        """The stored bytes of a page. Raises ``FileNotFoundError``."""
        return PageRepository(self.folder / "pages").load(url)

    def search(self, query: str, limit: int = 10, *, model: str = "") -> SearchResult:
        """The best pages for ``query``. What is not in the index yet is added to it first.

        ``model``, as in the setting ``SEARCH_MODEL``, searches the vectors of the index, too, if there are any.
        """
        from crawlproject.exporting.index import is_behind, search, update
        from crawlproject.language_models.embeddings import search_model  # aiohttp takes a while to import

        if is_behind(self.folder):
            update(self.folder)
        return search(self.folder, query, limit, model=search_model(model))

    def why(self, url: str) -> str:
        """Why ``url`` was, or was not, fetched: as ``scrapy why`` prints it. Raises ``BadInput`` for what is no URL."""
        from crawlproject.adapters.explanation import explain

        text = io.StringIO()
        explain(self.folder, url, text, agent=USER_AGENT)
        return text.getvalue()

    def report(self) -> Path:
        """Write ``report.html``; its path."""
        from crawlproject.reports.report import write_report

        return write_report(self.folder)
