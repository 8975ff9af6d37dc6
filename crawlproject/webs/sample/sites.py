"""The sites of the sample web, from a seed number: the pages of each kind of site, and the difficult hosts.

Difficult hosts fail, mirror another host, redirect in various ways, or are endless traps.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from crawlproject.webs.sample.plan import EVERYDAY, THEMES, TROUBLE, Redirect, SamplePage, SamplePlan, SampleSite, Theme

LAYOUTS = ("modern", "tables", "plain")
HIDDEN = 5  # one in this many sites of a theme is hidden behind a tunnel
SLOW = 17  # one in this many sites is slow
DELAYED = 29  # one in this many sites asks for a Crawl-delay
OLD_CHARSET = 11  # one in this many sites is encoded in ISO 8859-1
LIST_LENGTH = 8  # entries per page of a list
TRAP_START = "2004/05"  # the first month that the calendar of a club shows
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


def build(seed: int) -> SamplePlan:
    """The plan for ``seed``; the same plan for the same seed, on every machine."""
    rng = Random(f"plan {seed}")
    sites = [*_theme_sites(rng), *_everyday_sites(rng)]
    for number, site in enumerate(sites):
        _behave(site, number, rng)
        fill(site, THEMES, rng)
    sites += troubled_sites(sites)
    by_host = {site.host: site for site in sites}
    return SamplePlan(by_host, redirects(by_host), _tunnels(sites, rng))


def _theme_sites(rng: Random) -> Iterator[SampleSite]:
    for theme in THEMES:
        for number, (name, title, kind) in enumerate(theme.sites):
            hidden = number % HIDDEN == HIDDEN - 1 and kind != "hub"
            yield SampleSite(f"www.{name}.example", title, kind, theme, layout=rng.choice(LAYOUTS), hidden=hidden)


def _everyday_sites(rng: Random) -> Iterator[SampleSite]:
    for name, title, kind in EVERYDAY.sites:
        yield SampleSite(f"www.{name}.example", title, kind, EVERYDAY, layout=rng.choice(LAYOUTS))


def _behave(site: SampleSite, number: int, rng: Random) -> None:
    """Latency, robots.txt and charset of a site."""
    site.seconds = rng.uniform(2.0, 5.0) if number % SLOW == SLOW - 1 else round(rng.uniform(0.03, 0.4), 3)
    if number % OLD_CHARSET == OLD_CHARSET - 1:
        site.charset = "iso-8859-1"
    rules = ["User-agent: *", "Disallow: /archive/" if number % 2 else "Disallow: /private/"]
    delayed = number % DELAYED == DELAYED - 1
    if delayed:
        rules.append("Crawl-delay: 2")
    if site.kind == "shop":
        rules += ["Disallow: /basket/", "", "User-agent: greedybot", "Disallow: /"]
    if delayed or number % 3:
        site.robots = "\n".join(rules) + "\n"


def _tunnels(sites: Sequence[SampleSite], rng: Random) -> dict[str, SampleSite]:
    """For each hidden site, the only everyday page that links to it."""
    stories = [page for site in sites if site.kind in ("town", "paper", "personal") for page in site.of_kind("story")]
    hidden = [site for site in sites if site.hidden]
    return {page.url: site for page, site in zip(rng.sample(stories, len(hidden)), hidden, strict=True)}


class Shape(NamedTuple):
    """The number of pages of each type on a kind of site. Only a part of the short ``stories`` is about the theme."""

    articles: int = 0
    stories: int = 0
    goods: int = 0
    guests: int = 0  # articles about another theme, the same for all guests of a site


SHAPES = {
    "atlas": Shape(articles=11),
    "society": Shape(articles=5, stories=6),
    "hub": Shape(articles=2),
    "notes": Shape(articles=5, stories=6),
    "museum": Shape(articles=5, stories=4),
    "club": Shape(articles=4, stories=5),
    "shop": Shape(articles=2, goods=8),
    "portal": Shape(stories=3),
    "town": Shape(stories=11),
    "paper": Shape(stories=12, guests=3),
    "personal": Shape(stories=8, guests=2),
    "university": Shape(stories=7, guests=4),
}
ANGLES = (
    "{Subject}: an introduction",
    "Field notes on {subject}",
    "What we know about {subject}",
    "{Subject} in {place}",
    "A short history of {subject}",
    "Questions about {subject}",
    "Looking closely at {subject}",
    "{Subject} for beginners",
    "Ten years of {subject}",
    "Mistakes I made with {subject}",
    "The language of {subject}",
    "A day spent on {subject}",
)
STORY_TITLES = (
    "News from {place}",
    "A week at {place}",
    "Notice: {subject}",
    "Letter from {place}",
    "Diary, page {number}",
)


def fill(site: SampleSite, themes: Sequence[Theme], rng: Random) -> None:
    """Add the pages of a site. Guest articles are about one of ``themes``."""
    shape = SHAPES[site.kind]
    site.pages.append(SamplePage(site.url, site, "home", site.title, site.theme, _any_subject(site.theme, rng)))
    own = shape.articles + (1 if site.theme.key == "coral" and site.kind == "notes" else 0)
    site.pages.extend(_articles(site, site.theme, own, rng))
    site.pages.extend(_articles(site, rng.choice(themes), shape.guests, rng))
    site.pages.extend(_stories(site, shape.stories, rng))
    site.pages.extend(_goods(site, shape.goods, rng))
    site.pages.extend(_lists(site))
    site.pages.extend(_special_pages(site, rng))
    if site.kind == "portal":
        site.pages.extend(_categories(site, [*themes, site.theme]))


def path_to(site: SampleSite, folder: str, name: str) -> str:
    """A URL in the style of the site, so that not all hosts look alike."""
    endings = {"modern": f"{folder}/{name}/", "tables": f"{folder}/{name}.html", "plain": f"{folder}/{name}.htm"}
    return site.url + endings[site.layout]


def slug(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


def _articles(site: SampleSite, theme: Theme, count: int, rng: Random) -> Iterator[SamplePage]:
    subjects = rng.sample(sorted(theme.subjects), len(theme.subjects))
    angles = rng.sample(ANGLES, len(ANGLES))
    for number in range(count):
        subject = subjects[number % len(subjects)]
        title = _titled(angles[number % len(angles)], theme, subject, rng)
        yield SamplePage(path_to(site, "articles", slug(title)), site, "article", title, theme, subject, number)


def _stories(site: SampleSite, count: int, rng: Random) -> Iterator[SamplePage]:
    for number in range(1, count + 1):
        subject = _any_subject(site.theme, rng)
        title = _titled(rng.choice(STORY_TITLES), site.theme, subject, rng, number)
        yield SamplePage(
            path_to(site, "news", f"{number:02d}-{slug(title)}"), site, "story", title, site.theme, subject, number
        )


def _goods(site: SampleSite, count: int, rng: Random) -> Iterator[SamplePage]:
    for number in range(count):
        name = site.theme.goods[number % len(site.theme.goods)]
        title = f"{name[0].upper()}{name[1:]}, no. {number + 1}"
        subject = _any_subject(site.theme, rng)
        yield SamplePage(path_to(site, "shop", f"item-{number + 1}"), site, "item", title, site.theme, subject, number)


def _lists(site: SampleSite) -> Iterator[SamplePage]:
    """Lists of articles, stories and goods, cut into pages."""
    for kind, folder, title in (
        ("article", "articles", "Articles"),
        ("story", "news", "News"),
        ("item", "shop", "Catalogue"),
    ):
        entries = len(site.of_kind(kind))
        for number in range((entries + LIST_LENGTH - 1) // LIST_LENGTH):
            url = f"{site.url}{folder}/" if number == 0 else f"{site.url}{folder}/?page={number + 1}"
            yield SamplePage(url, site, f"{kind} list", f"{title} - {site.title}", site.theme, "", number)


def _special_pages(site: SampleSite, rng: Random) -> Iterator[SamplePage]:
    def page(path: str, kind: str, title: str, subject: str = "", number: int = 0) -> SamplePage:
        return SamplePage(
            site.url + path, site, kind, title, site.theme, subject or _any_subject(site.theme, rng), number
        )

    yield page("about/", "about", f"About {site.title}")
    if site.kind != "portal":
        yield page("links/", "links", f"Links - {site.title}")
    if site.kind == "hub":
        for number, subject in enumerate(site.theme.subjects):
            yield page(f"topics/{slug(subject)}/", "hub list", f"Links about {subject}", subject, number)
    if site.kind == "atlas":
        for article in site.of_kind("article"):
            yield page(f"print/{slug(article.title)}.html", "print", article.title, article.subject, article.number)
    if site.kind in ("notes", "personal", "town"):
        yield page("guestbook/", "guestbook", f"Guest book of {site.title}")
        yield page("archive/2003/", "archive", f"Archive of {site.title}, 2003")
    if site.kind == "club":
        yield page(f"calendar/{TRAP_START}/", "calendar", f"Calendar of {site.title}")
    if site.kind in ("town", "university"):
        yield page("clubs/", "clubs", f"Clubs and societies - {site.title}")


def _categories(site: SampleSite, themes: Sequence[Theme]) -> Iterator[SamplePage]:
    for number, theme in enumerate(themes):
        title = f"{theme.name[0].upper()}{theme.name[1:]} - {site.title}"
        yield SamplePage(f"{site.url}{slug(theme.name)}/", site, "category", title, theme, "", number)


def _titled(template: str, theme: Theme, subject: str, rng: Random, number: int = 0) -> str:
    capital = subject[0].upper() + subject[1:]
    return template.format(Subject=capital, subject=subject, place=rng.choice(theme.places), number=number)


def _any_subject(theme: Theme, rng: Random) -> str:
    return rng.choice(sorted(theme.subjects))


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
    """Site, year and month of a page in the endless calendar of a club; None for any other URL."""
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
