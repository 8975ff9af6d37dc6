"""crawl4ai's best-first crawl, with its keyword scorer and its HTTP strategy (no browser).

It starts with all seeds in one queue, through its resume state, and may leave the hosts of the seeds. Its scorer looks
for words in URLs, which contain no blanks, so it gets the single words of the keywords. Its rate limiter is off. With
``prefetch`` in the job it extracts only the links of a page; otherwise it also makes Markdown of each page, its default.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.rivals.joblog import PageLog, read_job
from benchmarks.rivals.stopwatch import Stopwatch

FAR = 1_000_000  # links from a seed: no limit


def words_of(phrases: Iterable[str]) -> list[str]:
    """The single words of the keywords, each once, in lower case."""
    return list(dict.fromkeys(word for phrase in phrases for word in phrase.lower().split()))


def starting_state(seeds: Iterable[str]) -> dict[str, Any]:
    """All seeds in the queue, ahead of all links found later (scores are negated there, and at most 1)."""
    items = [{"score": -2.0, "depth": 0, "url": seed, "parent_url": None} for seed in seeds]
    return {"visited": [], "pages_crawled": 0, "depths": {item["url"]: 0 for item in items}, "queue_items": items}


async def crawl(job: dict[str, Any]) -> None:
    """Crawl until the queue is empty, or the job's number of pages is reached."""
    from crawl4ai import AsyncWebCrawler, BestFirstCrawlingStrategy, CacheMode, CrawlerRunConfig, ProxyConfig
    from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy
    from crawl4ai.deep_crawling.scorers import KeywordRelevanceScorer

    strategy = BestFirstCrawlingStrategy(
        max_depth=FAR,
        include_external=True,
        url_scorer=KeywordRelevanceScorer(words_of(job["keywords"])),
        resume_state=starting_state(job["seeds"]),
    )
    config = CrawlerRunConfig(
        deep_crawl_strategy=strategy,
        proxy_config=ProxyConfig(server=job["proxy"]),
        cache_mode=CacheMode.BYPASS,
        prefetch=bool(job.get("prefetch")),
        mean_delay=0.0,
        max_range=0.0,
        stream=True,
        verbose=False,
    )
    log, watch = PageLog(Path(job["log"])), Stopwatch()
    async with AsyncWebCrawler(crawler_strategy=AsyncHTTPCrawlerStrategy(), verbose=False) as crawler:
        watch.start()
        async for result in await crawler.arun(job["seeds"][0], config=config):
            if result.success:
                log.note(result.redirected_url or result.url)
                if watch.page() == job.get("pages"):
                    break
        watch.report(job)


def main() -> None:
    job = read_job(sys.argv[1])
    os.environ["CRAWL4_AI_BASE_DIRECTORY"] = job["folder"]
    asyncio.run(crawl(job))


if __name__ == "__main__":
    main()
