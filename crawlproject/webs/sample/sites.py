"""The pages of each kind of site."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from crawlproject.webs.sample.plan import SamplePage, SampleSite
from crawlproject.webs.sample.themes import Theme

LIST_LENGTH = 8  # entries of one page of a list
TRAP_START = "2004/05"  # the month that the calendar of a club opens with


class Shape(NamedTuple):
    """How many pages of each sort a kind of site has. ``stories`` are short and only half about the theme."""

    articles: int = 0
    stories: int = 0
    goods: int = 0
    guests: int = 0  # articles about other themes, each site having one theme it likes


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
    """Add the pages of the site. ``themes`` are those from which an everyday site may choose."""
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
