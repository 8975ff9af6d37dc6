"""Renders pages in a browser, where ``CRAWL_RENDER`` asks for it: pages that scripts make, on hosts where rendering has helped.
``pipeline.py`` and ``browser/`` run it.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import replace
from typing import Any, ClassVar, Literal
from urllib.parse import parse_qsl

from crawlproject.core.learned_state import fields_of, set_fields
from crawlproject.core.page_steps import PageSteps
from crawlproject.core.part import Part, Setup
from crawlproject.parts.rendering.controls import ControlModel, PageTrials
from crawlproject.parts.rendering.options import RenderOptions
from crawlproject.records import NEEDS_BROWSER, RENDERED, CrawlUrl, Fetch, FetchEvent, Link, Page
from crawlproject.urls.hosts import host_of

Mode = Literal["never", "needed", "always"]
MORE_TERMS = 10  # terms that a rendered page must have more than the plain one, unless it has a new link
HTML = "text/html; charset=utf-8"

_HEADING_ID = re.compile(r"<h[1-6]\b[^<>]*?\sid=[\"']?([^\"'\s>]+)", re.IGNORECASE)
_KNOWN = 10_000  # hosts that are remembered
_TRUST = 3  # pages in a row that may bring nothing on a host where one did; one more, and the host is left alone


class Rendering(Part):
    """Present unless ``CRAWL_RENDER`` is ``never``.

    The first page of a host that is rendered is a probe: when it brings nothing, no more are rendered there. This knowledge
    follows from the history: each rendered page has the sign ``RENDERED``. ``cost`` is the number of fetches that a rendering
    counts for in the budget of its site, in addition to the fetch of the page.
    """

    name = "rendering"
    LEARNED: ClassVar[tuple[str, ...]] = ("_hosts",)

    def __init__(self, mode: Mode, cost: float = 0.0, clicks: int = 0) -> None:
        self._mode = mode
        self._cost = cost
        self._clicks = clicks
        self._controls = ControlModel()
        self._hosts: OrderedDict[str, int] = OrderedDict()  # _TRUST after one that gained, less 1 for each other page

    @classmethod
    def make(cls, setup: Setup) -> Rendering | None:
        options = setup.options.of(RenderOptions)
        if options.crawl_render == "never":
            return None
        return cls(options.crawl_render, options.crawl_render_cost, options.crawl_render_clicks)

    def wants(self, page: Page) -> bool:
        """Whether a page that was just read should be rendered."""
        if self._mode != "needed":
            return self._mode == "always"
        return page.needs_browser and self._hosts.get(host_of(page.url), 0) >= 0

    def trials(self, page: Page) -> PageTrials | None:
        """The clicks of a page that is rendered; None if it is not clicked."""
        return PageTrials(self._controls, host_of(page.url), self._clicks) if self._clicks else None

    def learned(self) -> Any:
        return fields_of(self, self._controls)

    def set_learned(self, learned: Any) -> None:
        set_fields(learned, self, self._controls)

    def learn(self, event: FetchEvent) -> None:
        visit = event.visit
        if RENDERED not in visit.signs:
            return
        host = host_of(visit.url)
        gained = self._hosts.pop(host, 0)
        self._hosts[host] = gained - 1 if visit.error == NEEDS_BROWSER else _TRUST
        if len(self._hosts) > _KNOWN:
            self._hosts.popitem(last=False)
        self._controls.learn(host, visit.signs)

    def page(
        self,
        steps: PageSteps,
        url: CrawlUrl,
        plain: Page,
        html: str,
        *,
        robots_tag: str,
        now: float,
        trials: PageTrials | None = None,
        is_whole: bool = True,
    ) -> tuple[Page, bytes]:
        """The page and its body after its scripts have run; ``plain`` and no body when nothing was gained.

        ``html`` is empty when rendering failed. ``trials`` are the clicks that were made. Unless it ``is_whole``, text of
        ``plain`` may be missing.
        """
        signs = {RENDERED: self._cost, **(trials.signs() if trials else {})}
        body = html.encode("utf-8", "replace")[: steps.max_bytes]
        page = steps.read(url, body, content_type=HTML, robots_tag=robots_tag, now=now) if body else plain
        if page is plain or not (gained(plain, page) if plain.needs_browser else is_whole):
            return replace(plain, signs={**plain.signs, **signs}), b""
        seen = {name: value for name, value in page.signs.items() if name != NEEDS_BROWSER}
        reserved = " ".join(sorted({*plain.reserved.split(), *page.reserved.split()}))
        return replace(page, links=without_headings(page, html), signs={**seen, **signs}, reserved=reserved), body


def gained(plain: Page, rendered: Page) -> bool:
    """Whether the scripts of a page brought text or links."""
    if len(rendered.terms) >= len(plain.terms) + MORE_TERMS:
        return True
    return not {link.url for link in rendered.links} <= {link.url for link in plain.links}


def without_headings(page: Page, html: str) -> tuple[Link, ...]:
    """The links of a rendered page that lead to other pages.

    A script that uses the fragment to address its own pages writes a heading into the query: ``/page?id=heading``.
    """
    headings = set(_HEADING_ID.findall(html))
    path, _, query = page.url.partition("?")
    own = set(parse_qsl(query))

    def is_heading(url: str) -> bool:
        if not headings or url.partition("?")[0] != path:
            return False
        new = [value for name, value in parse_qsl(url.partition("?")[2]) if (name, value) not in own]
        return bool(new) and headings.issuperset(new)

    return tuple(link for link in page.links if not is_heading(link.url))


def rendered_until(fetch: Fetch, now: float, rest: float = 0.0) -> Fetch:
    """The fetch of a page that was rendered until ``now``: the host was visited all that time, and asked to rest for ``rest``.

    It has no validators: the page as it came may stay the same while its rendered text changes.
    """
    seconds, rest = fetch.seconds + now - fetch.at, max(fetch.asked_rest, rest)
    return replace(fetch, at=now, seconds=seconds, asked_rest=rest, etag="", last_modified="", lifetime=0.0)
