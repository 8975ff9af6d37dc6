"""The metrics of a running crawl: names, units, types and help, read when Prometheus scrapes.

Counters that the crawl folder keeps are totals since the crawl began, including resumes; others are totals since the process
began. Names follow https://prometheus.io/docs/practices/naming/.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
    SummaryMetricFamily,
)

if TYPE_CHECKING:
    from crawlproject.core.crawl import Crawl
    from crawlproject.frontier.base import Frontier

PREFIX = "topical_"
PAUSES = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0)  # seconds: upper bounds of the histogram's buckets
_HOSTS = 65_536  # hosts whose last visit is remembered
_RESPONSES = "downloader/response_status_count/"
_EXCEPTIONS = "downloader/exception_type_count/"


class Pauses:
    """Pauses between visits: seconds from the end of a fetch to the start of the next one from the same host."""

    def __init__(self) -> None:
        self.buckets = [0] * (len(PAUSES) + 1)
        self.seconds = 0.0
        self._ended: OrderedDict[str, float] = OrderedDict()

    def started(self, host: str, now: float) -> None:
        ended = self._ended.get(host)
        if ended is not None:
            pause = max(0.0, now - ended)
            self.buckets[bisect_left(PAUSES, pause)] += 1
            self.seconds += pause

    def ended(self, host: str, now: float) -> None:
        self._ended[host] = now
        self._ended.move_to_end(host)
        if len(self._ended) > _HOSTS:
            self._ended.popitem(last=False)

    def family(self) -> Metric:
        total, buckets = 0, []
        for bound, count in zip([*map(str, PAUSES), "+Inf"], self.buckets, strict=True):
            total += count
            buckets.append((bound, total))
        return HistogramMetricFamily(
            f"{PREFIX}host_pause_seconds",
            "From the end of a fetch to the start of the next one of the same host, robots.txt included",
            buckets,
            self.seconds,
        )


class StepTimes:
    """The number of calls and the total seconds of each step with a URL, by name."""

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}
        self.seconds: dict[str, float] = {}

    def add(self, step: str, seconds: float) -> None:
        self.calls[step] = self.calls.get(step, 0) + 1
        self.seconds[step] = self.seconds.get(step, 0.0) + seconds

    def family(self) -> Metric:
        family = SummaryMetricFamily(
            f"{PREFIX}step_seconds", "Time in a step of the life of a URL, see Crawl", labels=["step"]
        )
        for step, calls in self.calls.items():
            family.add_metric([step], calls, self.seconds[step])
        return family


# ------------------------------------------------------------ readable at any moment


def of_frontier(frontier: Frontier) -> Iterator[Metric]:
    """Metrics of the frontier of any crawl."""
    urls = GaugeMetricFamily(f"{PREFIX}frontier_urls", "URLs in the frontier", labels=["state"])
    urls.add_metric(["waiting"], len(frontier))
    urls.add_metric(["leased"], frontier.leases())
    yield urls
    hosts = GaugeMetricFamily(
        f"{PREFIX}frontier_hosts", "Hosts with waiting URLs, and those of them that are resting", labels=["state"]
    )
    hosts.add_metric(["waiting"], frontier.hosts())
    resting = getattr(frontier, "resting", None)  # some frontiers cannot count these without a search
    if resting is not None:
        hosts.add_metric(["resting"], resting())
    yield hosts
    yield _counter("frontier_evicted", "URLs dropped because the frontier was full", frontier.evicted())
    best = frontier.best()
    if best is not None:
        yield GaugeMetricFamily(
            f"{PREFIX}frontier_best_score", "Score of the best waiting URL of this worker", value=best
        )


def of_crawl(crawl: Crawl, relevant: int, judged: int, speed: float) -> Iterator[Metric]:
    """Metrics of a topical crawl. ``relevant`` and ``judged`` count pages of this process; ``speed`` is in pages per second."""
    yield InfoMetricFamily(
        f"{PREFIX}crawl", "What is crawled", value={"topic": crawl.topic.name, "ordering": crawl.options.ordering}
    )
    yield _counter("pages", "Pages stored", crawl.stats.pages)
    yield _counter("fetches", "Fetches finished, whatever came of them", crawl.stats.fetches)
    yield _counter("fetch_errors", "Fetches that brought no page", crawl.stats.errors)
    yield GaugeMetricFamily(f"{PREFIX}pages_per_second", "Pages stored per second, lately", value=speed)
    yield _counter("relevant_pages", "Pages of this process with at least PAGE_RELEVANT", relevant)
    yield GaugeMetricFamily(
        f"{PREFIX}harvest_ratio", "Share of relevant pages among those of this process", value=relevant / max(1, judged)
    )
    yield GaugeMetricFamily(
        f"{PREFIX}recent_relevance", "Mean relevance of the last pages", value=crawl.stats.recent_relevance()
    )
    refused = CounterMetricFamily(f"{PREFIX}refused_links", "Links and URLs that were refused", labels=["reason"])
    for reason, count in sorted(crawl.folder.refusals.counts.items()):
        refused.add_metric([reason], count)
    yield refused


def of_stats(stats: Mapping[str, Any]) -> Iterator[Metric]:
    """Scrapy's own counters of this process; responses include robots.txt."""
    responses = CounterMetricFamily(f"{PREFIX}responses", "Responses by HTTP status", labels=["status"])
    failures = CounterMetricFamily(
        f"{PREFIX}download_exceptions",
        "Requests that ended in an exception, refusals by middlewares too",
        labels=["exception"],
    )
    for name, value in sorted(stats.items()):
        if name.startswith(_RESPONSES):
            responses.add_metric([name.removeprefix(_RESPONSES)], value)
        elif name.startswith(_EXCEPTIONS):
            failures.add_metric([name.removeprefix(_EXCEPTIONS).rpartition(".")[2]], value)
    yield responses
    yield failures
    yield _counter("response_bytes", "Bytes of responses, headers included", stats.get("downloader/response_bytes", 0))
    yield _counter("items", "Items that passed all pipelines", stats.get("item_scraped_count", 0))
    yield _counter("dropped_items", "Items that a pipeline dropped", stats.get("item_dropped_count", 0))


def _counter(name: str, help_text: str, value: float) -> Metric:
    return CounterMetricFamily(PREFIX + name, help_text, value=value)
