"""Metrics of a running crawl: scraped over a real port, written to a file, and in agreement with the crawl folder."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

import pytest
from prometheus_client.parser import text_string_to_metric_families
from support.crawling import ROOT, crawl, history, start, stored
from support.scrapyd import free_port
from support.shop import open_shop
from support.stockproject import crawl as crawl_stock
from support.stockproject import start_project
from support.warm import Started

from crawlproject.adapters.extensions.metric_families import Pauses
from crawlproject.frontier.views.open import read_frontier

TOPIC = ROOT / "topics" / "demo.toml"
IMPOLITE = {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, "POLITENESS_MAX_CRAWL_DELAY": 0}

Samples = dict[tuple[str, ...], float]


def has_ipv6() -> bool:
    with suppress(OSError), socket.create_server(("::1", 0), family=socket.AF_INET6):
        return True
    return False


def samples(text: str) -> Samples:
    """The samples by name and label values."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@contextmanager
def crawling(**settings: object) -> Iterator[Started]:
    """A crawl of the sample web without a limit; it is ended with Ctrl-C."""
    with start("crawl", "topical", "-a", "topic=demo", **settings) as process:
        try:
            yield process
        finally:
            process.terminate()


def scraped(port: int, wanted: int, host: str = "127.0.0.1") -> Samples:
    """The samples that the port returns once ``wanted`` pages are stored."""
    opener = build_opener(ProxyHandler({}))
    deadline = time.monotonic() + 60
    while True:
        try:
            with opener.open(f"http://{host}:{port}/metrics", timeout=10) as answer:
                assert answer.headers["Content-Type"].startswith("text/plain; version=")
                found = samples(answer.read().decode())
            if found.get(("topical_pages_total",), 0) >= wanted:
                return found
        except OSError:
            pass
        assert time.monotonic() < deadline, f"not {wanted} pages"
        time.sleep(0.05)


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_a_running_crawl_is_scraped(tmp_path: Path, kind: str) -> None:
    port = free_port()
    settings = {"VIRTUAL_WEB": "sample", "CRAWL_DIR": tmp_path, "CRAWL_MAX_PAGES": 0, "POLITENESS_MIN_DELAY": 0.3}
    with crawling(CRAWL_METRICS_PORT=port, FRONTIER=kind, **settings):
        first = scraped(port, 20)
        later = scraped(port, int(first["topical_pages_total",]) + 20)
    assert later["topical_crawl_info", "adaptive", "demo"] == 1
    assert later["topical_frontier_urls", "waiting"] > 0
    assert later["topical_frontier_hosts", "waiting"] >= later["topical_frontier_hosts", "resting"] > 0
    assert later["topical_pages_per_second",] > 0
    assert 0 < later["topical_harvest_ratio",] <= 1
    assert later["topical_step_seconds_count", "read"] >= later["topical_pages_total",]
    assert later["topical_step_seconds_sum", "offer"] > 0
    assert later["topical_step_seconds_count", "examine"] == later["topical_step_seconds_count", "read"]
    assert later["process_resident_memory_bytes",] > 1e6
    assert later["topical_host_pause_seconds_count",] > 0
    assert later["topical_host_pause_seconds_bucket", "0.1"] == 0, "no host was visited again so soon"
    assert all(later[name] >= value for name, value in first.items() if name[0].endswith(("_total", "_count", "_sum")))
    assert later["topical_pages_total",] <= len(stored(tmp_path))


def test_a_page_that_rebinds_its_name_reads_no_metrics(tmp_path: Path) -> None:
    port = free_port()
    settings = {"VIRTUAL_WEB": "sample", "CRAWL_DIR": tmp_path, "CRAWL_MAX_PAGES": 0, "POLITENESS_MIN_DELAY": 0.3}
    with crawling(CRAWL_METRICS_PORT=port, **settings):
        scraped(port, 1)
        for host, status in (("rebound.example", 403), (f"localhost:{port}", 200), (f"127.0.0.1:{port}", 200)):
            with closing(HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
                connection.request("GET", "/metrics", headers={"Host": host})
                answer = connection.getresponse()
                assert (answer.status, b"topical_pages_total" in answer.read()) == (status, status == 200), host


@pytest.mark.skipif(not has_ipv6(), reason="the machine has no ::1")
def test_the_host_may_be_an_address_of_ipv6(tmp_path: Path) -> None:
    port = free_port()
    settings = {"VIRTUAL_WEB": "sample", "CRAWL_DIR": tmp_path, "CRAWL_MAX_PAGES": 0, "POLITENESS_MIN_DELAY": 0.3}
    with crawling(CRAWL_METRICS_PORT=port, CRAWL_METRICS_HOST="::1", **settings):
        assert scraped(port, 1, "[::1]")


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_the_file_says_at_the_end_what_the_crawl_folder_says(tmp_path: Path, kind: str) -> None:
    folder, path = tmp_path / "crawl", tmp_path / "crawl.prom"
    settings = {"VIRTUAL_WEB": "sample", "CRAWL_MAX_PAGES": 150, "CRAWL_METRICS_FILE": path, **IMPOLITE}
    done = crawl(TOPIC, folder, FRONTIER=kind, **settings)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    found, lines = samples(path.read_text()), history(folder)
    assert found["topical_pages_total",] == len(stored(folder))
    assert found["topical_fetches_total",] == len(lines)
    assert found["topical_fetch_errors_total",] == sum(bool(line["error"]) and not line["md5"] for line in lines)
    assert found["topical_relevant_pages_total",] == sum(line["relevance"] >= 0.1 for line in lines if line["md5"])
    told = {name[1]: value for name, value in found.items() if name[0] == "topical_refused_links_total"}
    assert told == json.loads((folder / "refused.json").read_text())["counts"]
    assert found["topical_frontier_urls", "leased"] == 0
    view = read_frontier(folder / "frontier")
    assert view is not None and found["topical_frontier_urls", "waiting"] == view.counts().waiting > 0
    assert found["topical_responses_total", "200"] >= len(stored(folder))
    assert list(tmp_path.glob("*.tmp")) == []


def test_a_port_that_is_taken_is_one_message(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = crawl(TOPIC, tmp_path, VIRTUAL_WEB="sample", CRAWL_METRICS_PORT=port)
    assert done.returncode == 2
    assert f"setting CRAWL_METRICS_PORT: cannot listen on 127.0.0.1:{port}" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_cannot_be_written_does_not_stop_the_crawl(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "crawl.prom"
    done = crawl(
        TOPIC, tmp_path / "crawl", VIRTUAL_WEB="sample", CRAWL_MAX_PAGES=5, CRAWL_METRICS_FILE=path, **IMPOLITE
    )
    assert done.returncode == 0 and f"cannot write {path}" in done.stderr
    assert len(stored(tmp_path / "crawl")) >= 5


def test_somebody_elses_project_has_metrics_too(tmp_path: Path) -> None:
    project, path = start_project(tmp_path), tmp_path / "site.prom"
    extension = json.dumps({"crawlproject.adapters.extensions.metrics.Metrics": 500})
    with open_shop() as shop:
        done = crawl_stock(
            project, "site", shop.port, tmp_path / "items", EXTENSIONS=extension, CRAWL_METRICS_FILE=path
        )
    assert done.returncode == 0, done.stderr
    found = samples(path.read_text())
    assert found["topical_items_total",] == len((tmp_path / "items").read_text().splitlines())
    assert found["topical_frontier_urls", "waiting"] == 0
    assert ("topical_pages_total",) not in found


@pytest.mark.parametrize(("pause", "bound"), [(0.1, "0.1"), (0.11, "0.5"), (1e6, "+Inf"), (-5.0, "0.1")])
def test_pauses_are_sorted_into_buckets(pause: float, bound: str) -> None:
    pauses = Pauses()
    pauses.started("a.example", 50.0)
    pauses.ended("a.example", 100.0)
    pauses.started("b.example", 100.0)
    pauses.started("a.example", 100.0 + pause)
    counts = {sample.labels["le"]: sample.value for sample in pauses.family().samples if "le" in sample.labels}
    assert next(le for le, count in counts.items() if count) == bound
    assert counts["+Inf"] == 1
