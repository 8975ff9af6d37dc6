"""Settings of the part: hubs that say when feeds have changed."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from crawlproject.options import Options, Port


class WebsubOptions(Options):
    """Hubs that report changed feeds (WebSub)."""

    crawl_websub_callback: Annotated[str, Field(pattern=r"^$|^https?://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._~/-]*)?$")] = ""
    """| the public address at which [hubs](revisits-running.md#websub) report changed feeds, such as
    `"https://crawler.example/websub/"`; empty: no hub is used | [WebSub](https://www.w3.org/TR/websub/)"""
    crawl_websub_port: Port = 8994
    """port at which hubs reach the crawl, behind a reverse proxy; 0: any free one"""
    crawl_websub_host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    """address for that port"""
