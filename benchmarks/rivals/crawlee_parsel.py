"""crawlee's ParselCrawler, breadth-first over every link to every host; it stores nothing.

Its state is kept in memory, its session pool and its statistics are off, and it has as many pages in flight as our crawler.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path
from typing import Any

from benchmarks.rivals.joblog import PageLog, read_job
from benchmarks.rivals.stopwatch import Stopwatch


async def crawl(job: dict[str, Any]) -> None:
    """Crawl until nothing is left, or the job's number of pages is reached."""
    from crawlee import ConcurrencySettings
    from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
    from crawlee.proxy_configuration import ProxyConfiguration
    from crawlee.storage_clients import MemoryStorageClient

    at_once = job.get("at_once", 100)
    crawler = ParselCrawler(
        proxy_configuration=ProxyConfiguration(proxy_urls=[job["proxy"]]),
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(
            min_concurrency=at_once, desired_concurrency=at_once, max_concurrency=at_once
        ),
        max_requests_per_crawl=job.get("pages"),
        use_session_pool=False,
        configure_logging=False,
    )
    logging.getLogger("crawlee").setLevel(logging.ERROR)
    log, watch = PageLog(Path(job["log"])), Stopwatch()

    @crawler.router.default_handler
    async def handle(context: ParselCrawlingContext) -> None:
        log.note(context.request.loaded_url or context.request.url)
        watch.page()
        await context.enqueue_links(strategy="all")

    watch.start()
    await crawler.run(job["seeds"])
    watch.report(job)


def main() -> None:
    asyncio.run(crawl(read_job(sys.argv[1])))


if __name__ == "__main__":
    main()
