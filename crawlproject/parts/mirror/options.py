"""Setting of the part: where the copy is."""

from __future__ import annotations

from crawlproject.options import Options


class MirrorOptions(Options):
    """A copy elsewhere."""

    crawl_mirror: str = ""
    """an address such as `s3://bucket/folder`, where a [copy of the crawl](deploy.md#a-copy-in-s3) is kept, the same for all
    workers; empty: none"""
