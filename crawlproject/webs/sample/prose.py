"""The text of the sample web: paragraphs made from the phrase banks of the themes."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from crawlproject.webs.sample.plan import SamplePage
from crawlproject.webs.sample.themes import Theme
from crawlproject.webs.sample.themes.everyday import EVERYDAY


class Section(NamedTuple):
    """A heading, empty for the first section, and paragraphs."""

    heading: str
    paragraphs: Sequence[str]


def text_of(page: SamplePage, rng: Random) -> list[Section]:
    """The text of a page without its links."""
    match page.kind:
        case "article" | "print" | "mirror":
            return _article(page, rng)
        case "story":
            return [Section("", [_story(page, rng), " ".join(_remarks(EVERYDAY, _any_subject(EVERYDAY, rng), rng, 2))])]
        case "item":
            return [Section("", [_offer(page, rng)])]
        case "home" | "about":
            return [Section("", [_welcome(page, rng)])]
        case "guestbook":
            return [Section("", ["Thank you for your visit. Leave a word for those who come after you."])]
        case "archive":
            return [Section("", ["Everything that we wrote last year, in one place. Nothing here changes any more."])]
        case "calendar":
            return [Section("", ["No appointments this month. Members are asked to look at the next one."])]
        case "lonely":
            return [Section("", [f"There is not much here. {_welcome(page, rng)}"])]
        case _:
            return [Section("", [f"{page.site.title} collects pages on {page.theme.about}."])]


def _article(page: SamplePage, rng: Random) -> list[Section]:
    theme, subject = page.theme, page.subject
    related = rng.choice([other for other in sorted(theme.subjects) if other != subject])
    opening = " ".join(rng.sample(theme.subjects[subject], 3))
    place = rng.choice(theme.places)
    return [
        Section("", [opening, " ".join(_remarks(theme, subject, rng, 2))]),
        Section(f"{related[0].upper()}{related[1:]} and {subject}", [" ".join(rng.sample(theme.subjects[related], 2))]),
        Section(f"From {place}", [" ".join((*_remarks(theme, related, rng, 1), rng.choice(theme.subjects[subject])))]),
    ]


def _story(page: SamplePage, rng: Random) -> str:
    """Short news: one sentence on the theme of the site, the rest is weather."""
    subject = _any_subject(EVERYDAY, rng)
    sentences = [*_remarks(page.theme, page.subject, rng, 1), *rng.sample(EVERYDAY.subjects[subject], 2)]
    return " ".join(sentences)


def _offer(page: SamplePage, rng: Random) -> str:
    price, days = rng.randrange(3, 90), rng.randrange(2, 9)
    remark = " ".join(_remarks(page.theme, page.subject, rng, 1))
    return f"{page.title}. Price: {price} crowns, delivered within {days} days. {remark}"


def _welcome(page: SamplePage, rng: Random) -> str:
    remark = " ".join(_remarks(page.theme, page.subject, rng, 1))
    return f"Welcome to {page.site.title}. These pages are about {page.theme.about}. {remark}"


def _remarks(theme: Theme, subject: str, rng: Random, count: int) -> list[str]:
    return [
        remark.format(
            subject=subject, place=rng.choice(theme.places), year=rng.randrange(1962, 2004), number=rng.randrange(3, 80)
        )
        for remark in rng.sample(theme.remarks, count)
    ]


def _any_subject(theme: Theme, rng: Random) -> str:
    return rng.choice(sorted(theme.subjects))
