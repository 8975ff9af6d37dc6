"""The links of each page of the sample web, and the text around them.

In their text, pages of a theme link to pages of the same theme, and the words around a link describe its target; in margins
and footers they link to friends of the author and to sponsors. Everyday pages link anywhere; some of them contain the only
link to a hidden site.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from crawlproject.webs.sample.plan import TROUBLE, SamplePage, SamplePlan, SampleSite, Theme
from crawlproject.webs.sample.sites import LIST_LENGTH, MIRROR, MOVING, SESSION_SHOP, TRAP_START

CATEGORY_LENGTH = 14  # sites that a directory lists about a theme
_MOVED = ("reef", "corals", "hither", "gone", "nowhere")
_LISTS = (("article", "articles/", "Articles"), ("story", "news/", "News"), ("item", "shop/", "Catalogue"))


# Descriptions of sites without a theme.
_EVERYDAY_NOTES = {
    "portal": "a directory of the web",
    "town": "notices and news of the town",
    "paper": "news, features and letters",
    "personal": "family, hobbies and a diary",
    "university": "courses, clubs and lectures",
}


class PageLink(NamedTuple):
    """A link: its anchor text, and the text next to it."""

    url: str
    text: str
    note: str = ""
    nofollow: bool = False


class Links(NamedTuple):
    """The links of a page by their place on the page; ``entries`` are those of a list page."""

    nav: Sequence[PageLink] = ()
    inline: Sequence[PageLink] = ()
    entries: Sequence[PageLink] = ()
    further: Sequence[PageLink] = ()
    aside: Sequence[PageLink] = ()
    footer: Sequence[PageLink] = ()


class Wiring:
    """Chooses links in ``plan``, using only the random generator that is passed in."""

    def __init__(self, plan: SamplePlan) -> None:
        self._plan = plan
        self._everyday = plan.sites_about["everyday"]
        self._difficult = [site for site in plan.sites.values() if site.kind == TROUBLE and site.pages]
        self._portals = [site for site in self._everyday if site.kind == "portal"]

    def links(self, page: SamplePage, rng: Random) -> Links:
        """The links of ``page``."""
        site = page.site
        if site.kind == TROUBLE:
            return Links(entries=list(self._troubled(page, rng)))
        return Links(
            nav=list(_navigation(site)),
            inline=list(self._inline(page, rng)),
            entries=list(self._entries(page, rng)),
            further=list(self._further(page, rng)),
            aside=[_to_site(friend) for friend in self._strangers(page.theme, rng, 3)],
            footer=self._footer(site),
        )

    def _inline(self, page: SamplePage, rng: Random) -> Iterator[PageLink]:
        if tunnel := self._plan.tunnels.get(page.url):
            yield PageLink(tunnel.url, tunnel.title, f"{tunnel.title} is about {tunnel.theme.about}")
        if page.kind == "article":
            for other in self._articles(page.theme, rng, 2):
                yield _to_article(other)
        elif page.kind == "story":
            own = page.site.of_kind("article")
            yield _to_article(rng.choice(own)) if own and rng.random() < 0.5 else self._somewhere(rng)

    def _entries(self, page: SamplePage, rng: Random) -> Iterator[PageLink]:
        site = page.site
        match page.kind:
            case "article list" | "story list" | "item list":
                yield from _one_page_of(site, page.kind.removesuffix(" list"), page.number)
            case "home":
                yield from map(_to_article, site.of_kind("article")[:4])
                yield from (PageLink(story.url, story.title) for story in site.of_kind("story", "item")[:4])
                yield from (PageLink(category.url, category.title) for category in site.of_kind("category"))
            case "category":
                known = self._plan.sites_about[page.theme.key]
                yield from map(_to_site, known if len(known) < CATEGORY_LENGTH else rng.sample(known, CATEGORY_LENGTH))
                yield from (_to_site(trouble) for trouble in self._difficult if trouble.theme is page.theme)
            case "hub list":
                about = [
                    article for article in self._plan.articles_about[page.theme.key] if article.subject == page.subject
                ]
                yield from map(_to_article, about)
            case "links":
                yield from self._recommended(site, rng)
            case "clubs":
                yield from (_to_site(self._theme_site(rng)) for _ in range(3))
            case "guestbook":
                yield from (_to_guest(guest) for guest in self._strangers(site.theme, rng, 4))
                yield PageLink(f"http://{SESSION_SHOP}/", "best bargains", "Buy here, cheap, cheap.", nofollow=True)
            case "archive":
                yield from (PageLink(story.url, story.title) for story in site.of_kind("story"))

    def _further(self, page: SamplePage, rng: Random) -> Iterator[PageLink]:
        if page.kind == "article":
            yield from map(_to_article, self._articles(page.theme, rng, 1))
            yield from map(_to_article, [other for other in page.site.of_kind("article") if other is not page][:2])
            if page.site.kind == "atlas":
                printed = page.site.of_kind("print")[page.number]
                yield PageLink(printed.url, "Print this page")
            if rng.random() < 0.2:
                yield PageLink(f"{self._theme_site(rng).url}old/{page.number}.html", f"An older page on {page.subject}")
        elif page.kind in ("home", "about"):
            yield _to_site(rng.choice(self._portals))
            yield _to_site(rng.choice(self._plan.sites_about[page.theme.key]))

    def _recommended(self, site: SampleSite, rng: Random) -> list[PageLink]:
        """The links on the link page of a site; a third of them have nothing to do with the theme of the site."""
        known = [other for other in self._plan.sites_about[site.theme.key] if other is not site]
        found = [_to_site(other) for other in rng.sample(known, min(6, len(known)))]
        found += [_to_site(other) for other in self._strangers(site.theme, rng, 3)]
        moved = rng.choice(_MOVED)
        found.append(PageLink(f"http://{MOVING}/{moved}", f"A page called {moved}", "It has moved several times."))
        found.append(PageLink(f"{site.url}old/links.html", "The old list of links"))
        rng.shuffle(found)
        return found

    def _troubled(self, page: SamplePage, rng: Random) -> Iterator[PageLink]:
        match page.kind:
            case "session home" | "item":
                yield from (PageLink(item.url, item.title) for item in rng.sample(page.site.of_kind("item"), 6))
                yield PageLink(page.site.url, page.site.title)
            case "mirror home":
                yield from map(_to_article, page.site.of_kind("mirror"))
            case "mirror":
                yield PageLink(f"http://{MIRROR}/", "Reef Atlas (mirror)")
                yield from map(_to_article, self._articles(page.theme, rng, 1))
            case _:
                yield _to_site(rng.choice(self._portals))

    def _footer(self, site: SampleSite) -> list[PageLink]:
        """The footer of a site, with links to its hosting provider and author: the same on every page."""
        rng = Random(site.host)
        town, maker, other = rng.choice(self._everyday), rng.choice(self._everyday), rng.choice(self._difficult)
        return [_to_site(town), _to_site(maker)] + ([_to_site(other)] if rng.random() < 0.3 else [])

    def _articles(self, theme: Theme, rng: Random, count: int) -> Iterator[SamplePage]:
        """Random articles on a theme; a few of them get most of the links."""
        known = self._plan.articles_about[theme.key]
        for _ in range(count):
            yield known[int(len(known) * rng.random() ** 2)]

    def _theme_site(self, rng: Random) -> SampleSite:
        """A site of any theme but everyday life."""
        key = rng.choice([key for key in self._plan.sites_about if key != "everyday"])
        return rng.choice(self._plan.sites_about[key])

    def _strangers(self, theme: Theme, rng: Random, count: int) -> list[SampleSite]:
        """Sites that are not about ``theme``."""
        others = [self._theme_site(rng) if rng.random() < 0.4 else rng.choice(self._everyday) for _ in range(count)]
        return [site for site in others if site.theme is not theme] or [rng.choice(self._portals)]

    def _somewhere(self, rng: Random) -> PageLink:
        story = rng.choice(rng.choice(self._everyday).pages)
        return PageLink(story.url, story.title, f"a page of {story.site.title}")


def _navigation(site: SampleSite) -> Iterator[PageLink]:
    yield PageLink(site.url, "Home")
    for kind, path, text in _LISTS:
        if site.of_kind(kind):
            yield PageLink(site.url + path, text)
    for page in site.of_kind("hub list"):
        yield PageLink(page.url, page.title)
    if site.kind != "portal":
        yield PageLink(f"{site.url}links/", "Links")
    yield PageLink(f"{site.url}about/", "About")
    for page in site.of_kind("clubs", "guestbook", "archive"):
        yield PageLink(page.url, page.title.partition(" - ")[0].partition(" of ")[0])
    if site.kind == "shop":
        yield PageLink(f"{site.url}basket/", "Basket")
    if site.kind == "club":
        yield PageLink(f"{site.url}calendar/{TRAP_START}/", "Calendar")


def _one_page_of(site: SampleSite, kind: str, number: int) -> Iterator[PageLink]:
    entries = site.of_kind(kind)
    for page in entries[number * LIST_LENGTH : (number + 1) * LIST_LENGTH]:
        yield _to_article(page) if kind == "article" else PageLink(page.url, page.title)
    if (number + 1) * LIST_LENGTH < len(entries):
        folder = next(path for name, path, _ in _LISTS if name == kind)
        yield PageLink(f"{site.url}{folder}?page={number + 2}", "Next page")


def _to_article(page: SamplePage) -> PageLink:
    sentence = page.theme.subjects[page.subject][page.number % 3]
    return PageLink(page.url, page.title, f"{page.site.title}: {sentence}")


def _to_site(site: SampleSite) -> PageLink:
    return PageLink(site.url, site.title, _EVERYDAY_NOTES.get(site.kind) or f"pages about {site.theme.about}")


def _to_guest(site: SampleSite) -> PageLink:
    return PageLink(site.url, site.title, "Nice pages, I enjoyed my visit. Please visit mine.", nofollow=True)
