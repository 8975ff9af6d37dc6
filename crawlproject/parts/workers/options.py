"""Settings of the part: seeds that are pushed to Redis."""

from __future__ import annotations

from crawlproject.options import Options, Seconds


class WorkerOptions(Options):
    """Seeds that are pushed to Redis."""

    redis_encoding: str = "utf-8"
    """encoding of pushed seeds"""
    redis_start_urls_key: str = "%(name)s:start_urls"
    """key to which seeds are pushed: a list, set or sorted set of URLs or of JSON like `{"url": "...", "meta":
    {"score": 0.5}}`; the keys with the name of the spider and of the topic are both read"""
    max_idle_time_before_close: Seconds = 0.0
    """seconds | time that workers wait for pushed seeds when nothing is left to fetch"""
