"""Settings of the part: pages that are rendered in a browser."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from crawlproject.options import Count, Options, Positive, Seconds, StarterOnly


class RenderOptions(Options):
    """Pages that are rendered in a browser."""

    crawl_render: Literal["never", "needed", "always"] = "never"
    """| pages that are [rendered in a browser](scripts.md): `"never"`, `"needed"` (pages that only a browser can read)
    or `"always"` | 004 section 8"""
    crawl_render_cost: Seconds = 4.0
    """fetches | cost of a rendering for the budget of its site, in addition to the page itself"""
    crawl_render_posts: Count = 0
    """requests | maximum requests that the scripts of a page may [POST](scripts.md#post) to its own site"""
    crawl_render_clicks: Count = 0
    """clicks | maximum clicks on [controls](scripts.md#clicks) that may show more of a page; 0: none | 004 section 8"""
    crawl_render_pages: Positive = 2
    """pages | pages rendered at the same time"""
    crawl_render_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 10.0
    """seconds | time after which a page is read as it is, settled or not"""
    crawl_render_memory: Annotated[int, Field(ge=2**27)] = 536_870_912
    """bytes | maximum memory for a browser process, one per page; a process that takes more is killed"""
    crawl_browser: Annotated[str, StarterOnly("it is run")] = ""
    """executable of the browser; empty: the installed Chromium or Chrome"""
