"""The bundled sample web: about 2,000 readable pages on 120 hosts, generated from a seed number.

It has six themes (coral reefs, sourdough, bees, volcanoes, medieval music, railways) and everyday life, with hubs,
directories, hidden sites behind tunnels, mirrors, redirects, robots rules, slow and failing hosts, an endless calendar and
endless session ids. The plan is made when the web is opened, each page when it is requested. Neither a clock nor a global
random generator is used: the same seed gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from email.utils import formatdate
from random import Random

from crawlproject.records import Reply
from crawlproject.webs.base import not_held, spellings
from crawlproject.webs.sample.plan import SamplePage, SamplePlan, SampleSite
from crawlproject.webs.sample.render import render, text_of
from crawlproject.webs.sample.sites import SESSION_SHOP, build, month_of, with_session
from crawlproject.webs.sample.wiring import Links, PageLink, Wiring

DEFAULT_SEED = 2004
_FIRST_DAY = 1_041_379_200  # 2003-01-01, in seconds since the epoch: the oldest page
_DAYS = 500
_BYTES_A_SECOND = 250_000  # of every host


class SampleWeb:
    """The sample web for ``seed``. Another seed gives other texts, titles and links on the same hosts."""

    def __init__(self, seed: int = DEFAULT_SEED) -> None:
        self.warnings: Sequence[str] = ()
        self.plan: SamplePlan = build(seed)
        self._seed = seed
        self._wiring = Wiring(self.plan)

    def get(self, url: str) -> Reply:
        for name in spellings(url):
            if reply := self._answer(name, url):
                return reply
        site = self._site(url)
        return not_held(url) if site is None else _of_host(site, not_held(url))

    def urls(self) -> Iterator[str]:
        yield from self.plan.pages
        yield from self.plan.redirects

    def __contains__(self, url: str) -> bool:
        return any(self._answer(name, url) is not None for name in spellings(url))

    def close(self) -> None:
        """Nothing to close."""

    def _answer(self, name: str, url: str) -> Reply | None:
        if month := month_of(name, self.plan.sites):
            return self._month(*month, url)
        if page := self.plan.pages.get(name):
            return self._page(page, url)
        if redirect := self.plan.redirects.get(name):
            return Reply(url, redirect.status, {"location": redirect.location}, seconds=0.05)
        site = self._site(name)
        return _robots(site, url) if site and name == f"{site.url}robots.txt" else None

    def _page(self, page: SamplePage, url: str) -> Reply:
        rng = Random(f"{self._seed} {page.url}")
        text = text_of(page, rng)
        links = self._wiring.links(page, rng)
        if page.site.host == SESSION_SHOP:
            links = links._replace(entries=[link._replace(url=with_session(link.url, url)) for link in links.entries])
        return _html(page.site, url, render(page, text, links, rng), rng)

    def _month(self, site: SampleSite, year: int, month: int, url: str) -> Reply:
        """A month of the endless calendar."""
        rng = Random(f"{self._seed} {site.host} {year} {month}")
        before, after = year * 12 + month - 2, year * 12 + month
        links = Links(
            nav=[PageLink(site.url, "Home")],
            entries=[
                PageLink(_month_url(site, before), "Previous month"),
                PageLink(_month_url(site, after), "Next month"),
            ],
        )
        page = SamplePage(url, site, "calendar", f"Calendar of {site.title}, {year}-{month:02}", site.theme, "")
        return _html(site, url, render(page, text_of(page, rng), links, rng), rng)

    def _site(self, url: str) -> SampleSite | None:
        return self.plan.sites.get(url.removeprefix("http://").partition("/")[0])


def _html(site: SampleSite, url: str, text: str, rng: Random) -> Reply:
    changed = formatdate(_FIRST_DAY + rng.randrange(_DAYS) * 86_400, usegmt=True)
    headers = {"content-type": f"text/html; charset={site.charset}", "last-modified": changed}
    return _of_host(site, Reply(url, 200, headers, text.encode(site.charset, "xmlcharrefreplace")))


def _robots(site: SampleSite, url: str) -> Reply:
    if site.robots_status != 200 or site.robots is None:
        status = site.robots_status if site.robots_status != 200 else 404
        return Reply(url, status, seconds=site.seconds, error=site.error)
    body = site.robots.encode()
    return Reply(url, 200, {"content-type": "text/plain"}, body, seconds=site.seconds)


def _of_host(site: SampleSite, reply: Reply) -> Reply:
    """The reply as the host sends it: with its latency, its error status, or a failure instead."""
    if site.error:
        return Reply(reply.url, 0, seconds=site.seconds, error=site.error)
    seconds = site.seconds + len(reply.body) / _BYTES_A_SECOND
    if site.status != 200:
        return Reply(reply.url, site.status, {"content-type": "text/plain"}, b"internal error\n", seconds)
    return Reply(reply.url, reply.status, reply.headers, reply.body, seconds)


def _month_url(site: SampleSite, months: int) -> str:
    year, month = divmod(months, 12)
    return f"{site.url}calendar/{year:04}/{month + 1:02}/"
