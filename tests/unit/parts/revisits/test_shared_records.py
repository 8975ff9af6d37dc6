"""Data attached to the next visit of a page, whichever worker has stored its text."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from crawlproject.core.peers import Peers
from crawlproject.parts.revisits.collection import CollectedPage
from crawlproject.parts.revisits.learned import LearnedVisits
from crawlproject.parts.revisits.options import RevisitOptions
from crawlproject.parts.revisits.outcomes import revisit_policy
from crawlproject.parts.revisits.shared_records import SharedCollection, SharedPage
from crawlproject.parts.revisits.text_difference import estimated_novelty, sketch_of
from crawlproject.records import PAGE, Visit
from crawlproject.storage.append_log import AppendLog
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.storage.page_files import PAGES, PageRepository
from crawlproject.storage.read import HISTORY

URL, TEXT = "http://a.test/", "corals build reefs where the water is clear and warm"


def test_a_text_that_only_a_dead_worker_knew_is_compared_from_the_next_visit_on(tmp_path: Path) -> None:
    said: list[Any] = []
    peers = SimpleNamespace(attach=lambda key, part, message, number: said.append(message))
    shared = SharedCollection("b", tmp_path / "b", cast(Peers, peers))
    page = CollectedPage(0, URL, 1, PAGE, 1, 1, 5.0, 5.0, 0.5, "", "", "")
    shared.was_attached(SharedPage.of(page, "dead", ""))

    first = shared.attached(URL)
    assert first is not None and shared.text_before(first, bytes.decode) == (None, None)
    shared.text_is(first, TEXT)
    shared.attach(page)  # the visit ends, and has shown nothing new

    _, *values = said.pop()
    shared.was_attached(SharedPage.checked(*values))
    second = shared.attached(URL)
    assert second is not None and second.holder == "dead"
    stored, sketch = shared.text_before(second, bytes.decode)
    assert stored is None and sketch == sketch_of(TEXT)
    assert estimated_novelty(sketch, sketch_of("trains cross the bridge at night without a sound")) > 0.5


def test_the_text_that_a_killed_worker_told_nobody_of_is_read_from_its_folder(tmp_path: Path) -> None:
    stored = PageRepository(tmp_path / "killed" / PAGES).store(URL, TEXT.encode())
    log = AppendLog(tmp_path / "killed" / HISTORY)
    log.append(Visit(URL, 200, 5.0, md5=stored))
    log.close()
    said: list[Any] = []
    peers = SimpleNamespace(
        attach=lambda key, part, message, number: said.append(message), folders=lambda: [tmp_path / "killed"]
    )
    shared = SharedCollection("b", tmp_path / "b", cast(Peers, peers))
    options = RevisitOptions(crawl_revisit="uniform", crawl_worker="b")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / HISTORY).touch()
    folder = cast(CrawlFolder, SimpleNamespace(path=tmp_path / "b", beside=[]))
    visits = LearnedVisits(revisit_policy(options), folder, options, shared)

    visits.replay_workers()
    page = visits.collection.find(URL)
    assert page is not None
    shared.attach(page)  # as for every page that does not wait for its next visit

    _, *values = said.pop()
    shared.was_attached(SharedPage.checked(*values))
    known = shared.attached(URL)
    assert known is not None and shared.text_before(known, bytes.decode)[0] == TEXT
