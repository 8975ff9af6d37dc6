"""Settings of the part: pages that are rendered in a browser."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from crawlproject.options import Count, Options, Positive, Seconds, StarterOnly


class RenderOptions(Options):
    """Pages that are rendered in a browser."""

    crawl_render: Literal["never", "needed", "always"] = "never"
    """| pages that are [rendered in a browser](scripts.md): `"never"`, `"needed"` (what only a browser can read) or
    `"always"` | 004 section 8"""
    crawl_render_cost: Seconds = 4.0
    """fetches | that a rendering costs its site, besides that of the page"""
    crawl_render_posts: Count = 0
    """requests | that the scripts of a page may [POST](scripts.md#post) to its own site"""
    crawl_render_clicks: Count = 0
    """clicks | of a page on [controls](scripts.md#clicks) that may show more of it; 0: none | 004 section 8"""
    crawl_render_pages: Positive = 2
    """pages | rendered at the same time"""
    crawl_render_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 10.0
    """seconds | after which a page is read as it is, settled or not"""
    crawl_render_memory: Annotated[int, Field(ge=2**27)] = 536_870_912
    """bytes | that a process of the browser may take, of which a page has one: else it is killed"""
    crawl_browser: Annotated[str, StarterOnly("it is run")] = ""
    """executable of the browser; empty: Chromium or Chrome, as installed"""
