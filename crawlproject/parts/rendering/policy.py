"""Which pages are worth a browser: those that need one, on hosts where it helped."""

from __future__ import annotations

from collections import OrderedDict
from typing import Literal

from crawlproject.records import NEEDS_BROWSER, RENDERED, FetchEvent, Page
from crawlproject.urls.hosts import host_of

Mode = Literal["never", "needed", "always"]

MORE_TERMS = (
    10  # that a rendered page has besides those of the page as it came, or a link that is new: else nothing was gained
)
_KNOWN = 10_000  # hosts that are remembered
_TRUST = 3  # pages of a host that brought nothing in spite of earlier ones, after which it is left alone


class RenderPolicy:
    """A learner. The first page of a host that is rendered is a probe: when it brings nothing, no more are rendered there.

    What it knows follows from the history: ``RENDERED`` is a sign of each page that was.
    """

    def __init__(self, mode: Mode) -> None:
        self._mode = mode
        self._hosts: OrderedDict[str, int] = OrderedDict()  # pages that gained, less those that did not; at most _TRUST

    def wants(self, page: Page) -> bool:
        """Whether a page, just read, is to be rendered."""
        if self._mode != "needed":
            return self._mode == "always"
        return page.needs_browser and self._hosts.get(host_of(page.url), 0) >= 0

    def learn(self, event: FetchEvent) -> None:
        visit = event.visit
        if RENDERED not in visit.signs:
            return
        host = host_of(visit.url)
        gained = self._hosts.pop(host, 0)
        self._hosts[host] = gained - 1 if visit.error == NEEDS_BROWSER else _TRUST
        if len(self._hosts) > _KNOWN:
            self._hosts.popitem(last=False)


def gained(plain: Page, rendered: Page) -> bool:
    """Whether the scripts of a page brought text or links."""
    if len(rendered.terms) >= len(plain.terms) + MORE_TERMS:
        return True
    return not {link.url for link in rendered.links} <= {link.url for link in plain.links}
