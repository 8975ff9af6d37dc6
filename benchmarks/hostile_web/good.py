"""The good part of the hostile web: honest sites written by people.

A site is about one theme; it has articles, some of them about other themes, and lists that link to these. Articles link to
articles of other sites, mostly of their theme and often to well-known ones; hubs collect links to one theme.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape
from random import Random

from benchmarks.hostile_web import markup, prose
from benchmarks.hostile_web.markup import A

PER_LIST = 15  # articles that one page of a list links to
_OWN_THEME = 0.75  # of a site's articles
_SHARES = {"coral": 14, "everyday": 26}  # sites of a theme, of about 100; 12 of any other
_PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
_LINK = re.compile(r"[A-Z][a-z ]+ <a [^>]*>.*?</a>\.?", re.DOTALL)  # with the word before it: "See", "Compare"
_FOLDERS = ("articles", "texts", "notes", "stories", "posts", "p", "archive")


@dataclass(frozen=True, slots=True)
class Site:
    """A host with its theme and its number of articles. A ``hub`` has lists of links in place of articles."""

    host: str
    theme: str
    articles: int
    hub: bool
    layout: str
    folder: str
    seed: str

    @property
    def home(self) -> str:
        return f"http://{self.host}/"

    @property
    def lists(self) -> int:
        return -(-self.articles // PER_LIST)

    def article(self, number: int) -> str:
        return f"{self.home}{self.folder}/{self.slug(number)}-{number}.html"

    def list(self, number: int) -> str:
        return f"{self.home}{self.folder}/list-{number}.html"

    def theme_of(self, number: int) -> str:
        """The theme of an article."""
        rng = Random(f"{self.seed} theme {number}")
        if self.hub or rng.random() < _OWN_THEME:
            return self.theme
        return rng.choice([theme.key for theme in prose.THEMES])

    def slug(self, number: int) -> str:
        rng = Random(f"{self.seed} slug {number}")
        return "-".join(prose.word(self.theme_of(number), rng) for _ in range(2)).encode("ascii", "ignore").decode()

    def title(self, number: int) -> str:
        return prose.headline(self.theme_of(number), Random(f"{self.seed} title {number}"))


def make_sites(count: int, seed: int) -> list[Site]:
    """``count`` good sites, of 6 to 120 articles each."""
    rng = Random(f"good sites {seed}")
    themes = [theme.key for theme in prose.THEMES for _ in range(_SHARES.get(theme.key, 12))]
    sites = []
    for number in range(count):
        hub = rng.random() < 0.06
        articles = rng.randint(2, 6) if hub else min(120, max(6, int(rng.lognormvariate(3.3, 0.7))))
        host = f"{rng.choice(('www.', '', 'the-'))}{prose.name(rng)}{number}.{rng.choice(('example', 'test'))}"
        layout, folder = rng.choice(markup.LAYOUTS), rng.choice(_FOLDERS)
        sites.append(Site(host, rng.choice(themes), articles, hub, layout, folder, f"{seed} {host}"))
    return sites


class GoodPart:
    """The pages of the good sites. ``litter(url, theme, rng)`` returns the spam links that others left on a page."""

    def __init__(self, sites: list[Site], litter: Callable[[str, str, Random], list[A]]) -> None:
        self._litter = litter
        self._sites = sites
        self._by_theme = {
            theme.key: [site for site in sites if site.theme == theme.key] or sites for theme in prose.THEMES
        }
        self._about: dict[str, list[str]] = {}
        self._pages = {url: (site, kind, number) for site in sites for url, kind, number in _pages_of(site)}

    def urls(self) -> Iterator[str]:
        return iter(self._pages)

    def articles(self, theme: str) -> Iterator[str]:
        """The URLs of the articles about a theme."""
        for url, (site, kind, number) in self._pages.items():
            if kind == "article" and not site.hub and site.theme_of(number) == theme:
                yield url

    def quote(self, theme: str, rng: Random) -> str:
        """A paragraph of an article about a theme, without its links, for sites that steal text."""
        if theme not in self._about:
            self._about[theme] = list(self.articles(theme)) or list(self._pages)
        body = self.body(rng.choice(self._about[theme])) or b""
        found = _PARAGRAPH.findall(body.decode())
        return unescape(_LINK.sub("", rng.choice(found))) if found else prose.sentence(theme, rng)

    def body(self, url: str) -> bytes | None:
        """The page at ``url``, or None."""
        found = self._pages.get(url)
        if found is None:
            return None
        site, kind, number = found
        rng = Random(f"{site.seed} {kind} {number}")
        theme = site.theme_of(number) if kind == "article" else site.theme
        title, inside = self._inside(site, kind, number, theme, rng)
        left = self._litter(url, theme, Random(f"{site.seed} litter {kind} {number}"))
        aside = f"<h3>{rng.choice(('Comments', 'Friends', 'Elsewhere'))}</h3>{markup.listed(left)}" if left else ""
        nav = [A(site.home, "Home"), *(A(site.list(n), f"Contents {n + 1}") for n in range(min(3, site.lists)))]
        return markup.page(title, inside, layout=site.layout, nav=nav, aside=aside, site=site.host)

    def _inside(self, site: Site, kind: str, number: int, theme: str, rng: Random) -> tuple[str, str]:
        if kind == "home":
            friends = [self._somewhere(site.theme, rng) for _ in range(4)]
            return f"{site.host}, {site.theme}", markup.woven(prose.paragraphs(theme, rng, 2), friends, rng)
        if kind == "list":
            first, last = number * PER_LIST, min(site.articles, (number + 1) * PER_LIST)
            links = [A(site.article(n), site.title(n)) for n in range(first, last)]
            more = [A(site.list(number + 1), "Older")] if number + 1 < site.lists else []
            return f"Contents of {site.host}, {number + 1}", markup.listed(links + more)
        if site.hub:
            links = [self._elsewhere(theme, rng) for _ in range(18)]
            return f"Links: {site.title(number)}", f"<p>{prose.sentence(theme, rng)}</p>{markup.listed(links)}"
        links = [self._elsewhere(theme, rng) for _ in range(rng.randint(1, 3))]
        links += [self._own(site, rng) for _ in range(rng.randint(0, 2))]
        if rng.random() < 0.5:
            links.append(self._somewhere(rng.choice(prose.THEMES).key, rng))
        return site.title(number), markup.woven(prose.paragraphs(theme, rng, rng.randint(3, 9)), links, rng)

    def _own(self, site: Site, rng: Random) -> A:
        number = rng.randrange(site.articles)
        return A(site.article(number), site.title(number))

    def _elsewhere(self, theme: str, rng: Random) -> A:
        """An article about a theme, on a site of that theme; low numbers are well known and chosen more often."""
        sites = self._by_theme[theme]
        site = sites[int(len(sites) * rng.random() ** 1.6)]
        number = int(site.articles * rng.random() ** 1.4)
        return A(site.article(number), site.title(number))

    def _somewhere(self, theme: str, rng: Random) -> A:
        site = rng.choice(self._by_theme[theme])
        return A(site.home, f"{site.host}, {site.theme}")


def _pages_of(site: Site) -> Iterator[tuple[str, str, int]]:
    yield site.home, "home", 0
    yield from ((site.list(number), "list", number) for number in range(site.lists))
    yield from ((site.article(number), "article", number) for number in range(site.articles))
