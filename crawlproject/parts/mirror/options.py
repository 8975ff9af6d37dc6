"""Setting of the part: where the copy is."""

from __future__ import annotations

from typing import Annotated

from crawlproject.options import Options, StarterOnly


class MirrorOptions(Options):
    """A copy in remote storage."""

    crawl_mirror: Annotated[str, StarterOnly("it copies the crawl elsewhere")] = ""
    """an address such as `s3://bucket/folder` where a [copy of the crawl](deploy.md#a-copy-in-s3) is kept, the same for
    all workers; empty: none"""
