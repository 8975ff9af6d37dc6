"""The difficult hosts of the sample web: failures, mirrors, redirects of every sort, and endless traps."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence

from crawlproject.webs.sample.plan import TROUBLE, Redirect, SamplePage, SampleSite
from crawlproject.webs.sample.themes import Theme

MIRROR = "mirror.reef-atlas.example"
MIRRORED = "www.reef-atlas.example"
ALIAS = "reef-atlas.example"
SESSION_SHOP = "www.session-shop.example"
MOVING = "www.moving-pages.example"
REFUSING = "www.closed-port.example"
SLEEPING = "www.sleeping-server.example"
BROKEN = "www.broken-gallery.example"
BUSY_ROBOTS = "www.busy-robots.example"

_MONTH = re.compile(r"(?P<site>http://[^/]+/)calendar/(?P<year>\d{4})/(?P<month>0[1-9]|1[0-2])/")


def troubled_sites(sites: Sequence[SampleSite]) -> list[SampleSite]:
    """Eight difficult hosts, with themes taken from ``sites``."""
    coral, everyday = sites[0].theme, sites[-1].theme
    mirror = _site(MIRROR, "Reef Atlas (mirror)", coral)
    original = next(site for site in sites if site.host == MIRRORED)
    mirror.layout = original.layout
    mirror.pages = [_mirrored(page, mirror) for page in original.of_kind("article")]
    mirror.pages.append(SamplePage(mirror.url, mirror, "mirror home", mirror.title, coral, "coral polyps"))
    shop = _site(SESSION_SHOP, "The Session Shop", everyday)
    shop.pages = [
        SamplePage(f"{shop.url}item/{number}", shop, "item", f"Bargain {number}", everyday, "the weekly market", number)
        for number in range(1, 25)
    ]
    shop.pages.append(SamplePage(shop.url, shop, "session home", shop.title, everyday, "the weekly market"))
    moving = _site(MOVING, "Moving Pages", everyday)
    refusing = _site(REFUSING, "Closed Port", everyday)
    refusing.error = "connection refused"
    sleeping = _site(SLEEPING, "The Sleeping Server", coral)
    sleeping.error, sleeping.seconds = "timeout", 30.0
    broken = _site(BROKEN, "Broken Gallery", coral)
    broken.status, broken.robots_status = 500, 404
    busy = _site(BUSY_ROBOTS, "Busy Robots", coral)
    busy.robots_status = 503
    for site in (moving, refusing, sleeping, broken, busy):
        site.pages = [SamplePage(site.url, site, "lonely", site.title, site.theme, next(iter(site.theme.subjects)))]
    return [mirror, shop, moving, refusing, sleeping, broken, busy, _site(ALIAS, "Reef Atlas", coral)]


def redirects(sites: Mapping[str, SampleSite]) -> dict[str, Redirect]:
    """Redirects: to another host, along a chain, round a loop, to a URL variant, and out of the web."""
    atlas, moving = sites[MIRRORED], sites[MOVING]
    first, second, *_ = atlas.of_kind("article")
    odd = first.url.replace("http://www.", "HTTP://WWW.").replace(".example/", ".example:80/./articles/../") + "#top"
    found = {
        f"http://{ALIAS}/": Redirect(301, atlas.url),
        f"{moving.url}reef": Redirect(302, "/reef/"),
        f"{moving.url}reef/": Redirect(301, "reef.html"),
        f"{moving.url}reef/reef.html": Redirect(302, second.url),
        f"{moving.url}corals": Redirect(301, odd),
        f"{moving.url}hither": Redirect(302, "/thither"),
        f"{moving.url}thither": Redirect(302, "/hither"),
        f"{moving.url}gone": Redirect(301, f"{atlas.url}articles/withdrawn.html"),
        f"{moving.url}nowhere": Redirect(302, "http://no-such-host.example/"),
    }
    return found | {
        f"http://{ALIAS}/{page.url.removeprefix(atlas.url)}": Redirect(301, page.url) for page in atlas.pages[1:]
    }


def month_of(url: str, sites: Mapping[str, SampleSite]) -> tuple[SampleSite, int, int] | None:
    """Site, year and month of a page of the endless calendar of a club; None for any other URL."""
    match = _MONTH.fullmatch(url)
    if match is None:
        return None
    site = sites.get(match["site"].removeprefix("http://").rstrip("/"))
    return (site, int(match["year"]), int(match["month"])) if site and site.kind == "club" else None


def with_session(url: str, asked: str) -> str:
    """``url`` with a session id that depends on the URL of the linking page: endless for a crawler that keeps the id."""
    ticket = hashlib.md5(asked.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
    return f"{url}?PHPSESSID={ticket}"


def _site(host: str, title: str, theme: Theme) -> SampleSite:
    return SampleSite(host, title, TROUBLE, theme, seconds=0.15)


def _mirrored(page: SamplePage, mirror: SampleSite) -> SamplePage:
    return page._replace(url=mirror.url + page.url.removeprefix(page.site.url), site=mirror, kind="mirror")
