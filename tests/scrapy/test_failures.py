"""A page whose processing fails ends its lease with a reason, and its host rests as after any other fetch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import DownloadFailedError, DropItem
from scrapy.http import Response
from support import warm
from support.crawling import PATIENCE, QUICK, ROOT, command, environment, stored
from twisted.python.failure import Failure

from crawlproject.adapters.extensions.failures import Failures
from crawlproject.adapters.feeds import PageItem
from crawlproject.adapters.running import (
    ASKED_REST,
    ENDED_AT,
    TAKEN_AT,
    attach,
    fetch_of,
    memory_error,
    stopped,
    stopping,
    torn,
)
from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.errors import StorageFailed
from crawlproject.records import CrawlUrl, Topic
from crawlproject.storage.append_log import read_lines
from pipelines.steps import FrontierPipeline, HistoryPipeline, RelevancePipeline

SEED = "http://h.example/"
META = {TAKEN_AT: 100.0, ENDED_AT: 104.0, ASKED_REST: 30.0}


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Crawl]:
    options = read_options({**QUICK, "POLITENESS_FACTOR": 2.0})
    crawl = assemble(Topic("t", ("reef",), (SEED,)), options, clock=lambda: 100.0, folder=tmp_path / "crawl")
    yield crawl
    crawl.close("finished", 200.0, {})


@pytest.fixture
def crawler(crawl: Crawl) -> Any:
    crawler = SimpleNamespace(engine=None)
    attach(crawler, crawl)  # type: ignore[arg-type]
    return crawler


def leased(crawl: Crawl) -> CrawlUrl:
    lease = crawl.take(100.0)
    assert lease is not None
    return lease


def only_line(crawl: Crawl) -> dict[str, Any]:
    (line,) = read_lines(crawl.folder.path / "history.jsonl")
    return line


def answer() -> Response:
    return Response(SEED, 200, request=Request(SEED, meta=dict(META)))


def test_a_page_on_which_the_spider_breaks(crawl: Crawl, crawler: Any) -> None:
    leased(crawl)
    Failures(crawler).spider_error(Failure(ZeroDivisionError()), answer())
    line = only_line(crawl)
    assert (line["error"], line["status"], line["at"], line["seconds"]) == ("ZeroDivisionError", 200, 104.0, 4.0)
    assert crawl.frontier.leases() == 0
    crawl.frontier.put(CrawlUrl(f"{SEED}more", 1.0))
    assert crawl.frontier.next_due(105.0) == pytest.approx(104.0 + 30.0 + 2 * 4.0, abs=0.1)


def test_an_item_that_a_pipeline_breaks_on_or_drops(crawl: Crawl, crawler: Any) -> None:
    lease, request = leased(crawl), Request(SEED, meta=dict(META))
    item = PageItem(crawl.steps.read(lease, b"<p>reef"), b"<p>reef", lease, fetch_of(request, 200, 104.0))
    failures = Failures(crawler)
    failures.item_dropped({"url": SEED}, DropItem("of another spider"))
    assert crawl.frontier.leases() == 1
    failures.item_dropped(item, DropItem("too dull"))
    failures.item_error(item, Failure(ZeroDivisionError()))  # its lease has ended: once is enough
    assert (only_line(crawl)["error"], only_line(crawl)["seconds"]) == ("dropped: too dull", 4.0)


def test_an_item_that_a_pipeline_behind_the_history_line_breaks_on_or_drops_keeps_its_links(
    crawl: Crawl, crawler: Any
) -> None:
    lease, request, body = leased(crawl), Request(SEED, meta=dict(META)), b"<p>reef <a href=/more>more</a>"
    item = PageItem(crawl.steps.read(lease, body), body, lease, fetch_of(request, 200, 104.0))
    item.publish(crawl.steps.visit(lease, item.page, item.body, item.fetch))
    HistoryPipeline(crawler).process_item(item)
    Failures(crawler).item_error(item, Failure(ConnectionError("the database is away")))
    assert only_line(crawl)["links"] == 1 and crawl.frontier.leases() == 0
    assert [url.url for url in crawl.frontier.waiting()] == [f"{SEED}more"]


@pytest.mark.parametrize("is_committed", [True, False])
def test_an_item_that_a_pipeline_does_not_return(
    crawl: Crawl, crawler: Any, caplog: pytest.LogCaptureFixture, is_committed: bool
) -> None:
    lease, request, body = leased(crawl), Request(SEED, meta=dict(META)), b"<p>reef <a href=/more>more</a>"
    item = PageItem(crawl.steps.read(lease, body), body, lease, fetch_of(request, 200, 104.0))
    if is_committed:
        item.publish(crawl.steps.visit(lease, item.page, item.body, item.fetch))
        HistoryPipeline(crawler).process_item(item)
    failures = Failures(crawler)
    failures.item_replaced({"url": SEED}, None)  # another item of its response
    assert crawl.frontier.leases() == 1 and not caplog.records
    failures.item_replaced(item, None)
    failures.item_replaced(item, {"url": SEED})  # its lease has ended
    assert only_line(crawl)["error"] == ("" if is_committed else "lost") and crawl.frontier.leases() == 0
    assert [url.url for url in crawl.frontier.waiting()] == [f"{SEED}more"] * is_committed
    assert [record.getMessage().partition(" instead")[0] for record in caplog.records] == [
        "A pipeline returned nothing"
    ]


BESIDE = """
class Beside:
    async def process_spider_output(self, response, result):
        async for item in result:
            yield {"beside": response.url}
            yield item

class Forgetful:
    def process_item(self, item):
        return item if isinstance(item, dict) or "nacre" not in item.lease.url else None

class AddOn:
    def update_settings(self, settings):
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", Beside, 950)
        settings.setdefault_in_component_priority_dict("ITEM_PIPELINES", Forgetful, 10)
"""


def test_another_item_of_a_response_is_not_taken_for_its_page(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text(BESIDE)
    chosen = {**QUICK, "CRAWL_DIR": tmp_path / "crawl", "CRAWL_MAX_PAGES": 5, "VIRTUAL_WEB": "sample"}
    chosen["ADDONS"] = '{"beside.AddOn": 100}'
    crawling = command("crawl", "topical", "-a", "topic=demo", **chosen)
    done = warm.run(crawling[3:], ROOT, {**environment(), "PYTHONPATH": str(tmp_path)}, PATIENCE)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert len(stored(tmp_path / "crawl")) == 5
    lost = [line["url"] for line in read_lines(tmp_path / "crawl" / "history.jsonl") if line["error"] == "lost"]
    assert lost and all("nacre" in url for url in lost)
    assert done.stderr.count("A pipeline returned nothing instead") == 1


def test_a_disk_that_refuses_stops_the_crawl(crawl: Crawl, crawler: Any) -> None:
    leased(crawl)
    Failures(crawler).item_error({}, Failure(StorageFailed("full")))
    Failures(crawler).spider_error(Failure(ZeroDivisionError()), answer())
    assert stopped(crawler) and crawl.frontier.leases() == 1 and not len(crawl.folder.history)


@pytest.mark.parametrize(
    ("pipeline", "step", "stops"),
    [(RelevancePipeline, "score_page", False), (HistoryPipeline, "keep", True), (FrontierPipeline, "offer", True)],
)
def test_what_breaks_behind_the_history_line_stops_the_crawl(
    crawl: Crawl, crawler: Any, monkeypatch: pytest.MonkeyPatch, pipeline: Any, step: str, stops: bool
) -> None:
    """For example a user's ordering fails: the page is fetched again once the ordering is repaired."""

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    lease, request = leased(crawl), Request(SEED, meta=dict(META))
    item = PageItem(crawl.steps.read(lease, b"<p>reef"), b"<p>reef", lease, fetch_of(request, 200, 104.0))
    item.publish(crawl.steps.visit(lease, item.page, item.body, item.fetch))
    monkeypatch.setattr(crawl.steps, step, broken, raising=True)
    with pytest.raises(DropItem if stops else ZeroDivisionError) as failure:
        pipeline(crawler).process_item(item)
    assert stopped(crawler) == stops
    if stops:
        Failures(crawler).item_dropped(item, failure.value)
        assert crawl.frontier.leases() == 1


def test_a_want_of_memory_is_no_fault_of_a_page(crawl: Crawl, crawler: Any) -> None:
    lease, request = leased(crawl), Request(SEED, meta=dict(META))
    item = PageItem(crawl.steps.read(lease, b"<p>reef"), b"<p>reef", lease, fetch_of(request, 200, 104.0))
    Failures(crawler).item_error(item, Failure(MemoryError()))
    assert stopped(crawler) and torn(crawler)
    assert crawl.frontier.leases() == 1 and not list(read_lines(crawl.folder.path / "history.jsonl"))


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_want_of_memory_inside_a_step_stops_the_crawl(crawl: Crawl, crawler: Any, wrapped: bool) -> None:
    with stopping(crawler):
        raise memory_error(caused(DownloadFailedError(), MemoryError())) if wrapped else MemoryError()  # type: ignore[misc]
    assert stopped(crawler) and torn(crawler)


def caused(failure: Exception, cause: Exception) -> Exception:
    failure.__cause__ = cause
    return failure


def test_other_failures_have_nothing_to_do_with_memory() -> None:
    circle = ValueError()
    circle.__context__ = caused(KeyError(), circle)
    assert memory_error(circle) is None and memory_error(None) is None
