"""A crawl folder, opened: its pages, its visits, its index, its explanations."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from crawlproject.configuration import is_code, known_settings, starter_settings
from crawlproject.errors import BadInput
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
    """Open a crawl folder or the crawl at an address. The crawl may be running or killed. Raises ``BadCrawlDir``."""
    return StoredCrawl(folder)


_SHOWING = ("DASHBOARD", "CRAWL_METRICS_", "CRAWL_PROGRESS_SECONDS", "SEARCH_MODEL")


def stored_topic(folder: Path, settings: Mapping[str, Any] | None = None) -> Topic:
    """The topic of the crawl in ``folder``, with ``settings``: the folder does not store those of topic files. Raises
    ``BadCrawlDir``.
    """
    if (topics := part_module("topics", "topics_log")) is not None:
        return cast(Topic, topics.stored_topic(folder, settings))
    return topic_of(read_info(folder), settings)


def stored_settings(info: CrawlInfo) -> dict[str, Any]:
    """The settings of a stored crawl, including the parameters of its ordering, for resuming it.

    It leaves out the folder, the settings for displaying the crawl (a port that was free then may be taken now, and nobody
    watches a cron job), and the ``settings_of_the_starter``.
    """
    parameters = {f"ORDERING_{name.upper()}": value for name, value in info.parameters.items()}
    settings = {**known_settings(info.settings), **parameters}
    left_out = {"CRAWL_DIR", *settings_of_the_starter(info)}
    return {name: value for name, value in settings.items() if name not in left_out and not name.startswith(_SHOWING)}


def settings_of_the_starter(info: CrawlInfo) -> dict[str, Any]:
    """Settings of a stored crawl that ``stored_settings`` leaves out because they run code or send data.

    Only the user who starts a crawl may set them: the folder may come from a stranger.
    """
    names = [name for name in starter_settings() if not name.startswith(_SHOWING)]
    found = {name: info.settings[name] for name in names if info.settings.get(name)}
    judge = str(info.settings.get("TOPIC_RELEVANCE", ""))
    return {**found, "TOPIC_RELEVANCE": judge} if is_code(judge) else found


class StoredCrawl:
    """A crawl folder. Everything is read on demand, so a running crawl can be followed. Methods raise ``BadCrawlDir``.

    ``folder`` is its path. Opening merges the folders of several workers, and downloads the logs of a crawl at an address.
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
        """Why the crawl ended, such as ``page budget``; empty while it runs, and if it was killed."""
        return read_info(self.folder).reason

    def pages(self, *, min_relevance: float = 0.0, duplicates: bool = False) -> StoredPages:
        """The stored pages with at least this relevance (0 to 1), without near-duplicates unless ``duplicates`` is true.

        Raises ``BadInput`` for any other relevance.
        """
        return StoredPages(self.folder, Selection(min_relevance, duplicates))

    def visits(self) -> Iterator[Visit]:
        """Every finished fetch in the order of the crawl, including fetches without a page."""
        return read_visits(self.folder)

    def body(self, url: str) -> bytes:
        """The stored bytes of a page. Raises ``FileNotFoundError``."""
        return PageRepository(self.folder / "pages").load(url)

    def search(self, query: str, limit: int = 10, *, model: str = "") -> SearchResult:
        """The best pages for ``query``, after adding new pages to the index.

        With a ``model``, as in the setting ``SEARCH_MODEL``, it also searches the vectors of the index, if there are any.
        Raises ``BadInput`` for a negative limit.
        """
        if limit < 0:
            raise BadInput(f"limit {limit}", "expected 0 or more")
        from crawlproject.exporting.index import is_behind, search, update
        from crawlproject.language_models.embeddings import search_model  # aiohttp takes a while to import

        if is_behind(self.folder):
            update(self.folder)
        return search(self.folder, query, limit, model=search_model(model))

    def why(self, url: str) -> str:
        """Why ``url`` was or was not fetched, as printed by ``scrapy why``. Raises ``BadInput`` if it is not a URL."""
        from crawlproject.adapters.explanation import explain

        text = io.StringIO()
        explain(self.folder, url, text, agent=USER_AGENT)
        return text.getvalue()

    def report(self) -> Path:
        """Write ``report.html`` and return its path."""
        from crawlproject.reports.report import write_report

        return write_report(self.folder)
