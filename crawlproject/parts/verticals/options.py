"""Settings of the part: sites of one template: series, records, redundant URLs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator

from crawlproject.options import Count, Options, StarterOnly, as_object


def _as_before(value: object) -> object:
    """``True`` and ``False`` mean what they meant before there was a third value."""
    return {"true": "always", "false": "never"}.get(str(value).lower(), value)


class VerticalOptions(Options):
    """Sites of one template: series, records, redundant URLs."""

    trap_redundant: Annotated[Literal["never", "series", "always"], BeforeValidator(_as_before)] = "series"
    """| learn which URLs of a site [show the same as others](page-content.md#redundant-links), and refuse them:
    `"never"`, `"always"`, or `"series"`: with `CRAWL_SERIES` | 004 section 8"""
    crawl_site_templates: Annotated[dict[str, str], BeforeValidator(as_object), StarterOnly("they are code")] = {}
    """[your own templates](page-content.md#your-own-template) of sites: host to `package.module.Class`; JSON on the
    command line"""
    crawl_series: Count = 0
    """pages | maximum pages of a [series](page-content.md#page-series) that are fetched in order, one right after the
    other; 0: like other links"""

    @property
    def learns_redundant(self) -> bool:
        """Whether it is learned which URLs of a site show what others show."""
        return self.trap_redundant == "always" or (self.trap_redundant == "series" and self.crawl_series > 0)
