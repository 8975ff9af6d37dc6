"""The text of the sample web, made from the phrase banks of the themes, and its HTML.

The HTML has three styles: modern, with layout tables as in 1998, and with almost no mark-up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from random import Random
from typing import NamedTuple

from crawlproject.webs.sample.plan import EVERYDAY, SamplePage, Theme
from crawlproject.webs.sample.wiring import Links, PageLink

_MENTIONS = (
    "More about this stands in {link}: {note}.",
    "See also {link}: {note}.",
    "Compare it with {link}: {note}.",
    "We have it from {link}: {note}.",
)
_META = {
    "archive": '<meta name="robots" content="noindex">',
    "print": '<meta name="robots" content="noindex, nofollow">',
    "guestbook": '<meta name="robots" content="noindex">',
}


def render(page: SamplePage, sections: Sequence[Section], links: Links, rng: Random) -> str:
    """The HTML document of a page."""
    body = _body(page, sections, links, rng)
    head = f'<meta charset="{page.site.charset}">' + _META.get(page.kind, "")
    title = page.title if page.title == page.site.title else f"{page.title} | {page.site.title}"
    head += f"\n<title>{escape(title)}</title>"
    return f"<!doctype html>\n<html lang=en><head>{head}</head>\n<body>\n{body}\n</body></html>\n"


def _body(page: SamplePage, sections: Sequence[Section], links: Links, rng: Random) -> str:
    nav, footer = _list(links.nav), _row(links.footer)
    main = _main(page, sections, links, rng)
    aside = f"<h3>Friends of this site</h3>{_list(links.aside)}" if links.aside else ""
    name = escape(page.site.title)
    if page.site.layout == "tables":
        return (
            f"<table width=100%><tr><td colspan=2><b>{name}</b></td></tr><tr><td valign=top>{nav}{aside}</td>\n"
            f"<td>{main}</td></tr><tr><td colspan=2><small>Served by {footer}</small></td></tr></table>"
        )
    if page.site.layout == "plain":
        return f"<center>{_row(links.nav)}</center><hr>\n{main}\n<hr>{aside}<p><i>Thanks to {footer}</i>"
    return (
        f"<header><p>{name}</p><nav>{nav}</nav></header>\n<main>{main}</main>\n"
        f"<aside>{aside}</aside>\n<footer><p>Hosted by {footer}</p></footer>"
    )


def _main(page: SamplePage, sections: Sequence[Section], links: Links, rng: Random) -> str:
    blocks = [f"<h1>{escape(page.title)}</h1>"]
    for number, section in enumerate(sections):
        if section.heading:
            blocks.append(f"<h2>{escape(section.heading)}</h2>")
        blocks += [f"<p>{escape(text)}</p>" for text in section.paragraphs]
        blocks += [f"<p>{_mention(link, rng)}</p>" for link in links.inline[number :: len(sections)]]
    if links.entries:
        blocks.append(_list(links.entries))
    if links.further:
        blocks.append(f"<h2>Further reading</h2>{_list(links.further)}")
    return "\n".join(blocks)


def _mention(link: PageLink, rng: Random) -> str:
    return rng.choice(_MENTIONS).format(link=_anchor(link), note=escape(link.note.rstrip(".")))


def _list(links: Iterable[PageLink]) -> str:
    return "<ul>" + "\n".join(f"<li>{_described(link)}</li>" for link in links) + "</ul>"


def _row(links: Iterable[PageLink]) -> str:
    return " | ".join(_anchor(link) for link in links)


def _described(link: PageLink) -> str:
    return f"{_anchor(link)}: {escape(link.note)}" if link.note else _anchor(link)


def _anchor(link: PageLink) -> str:
    rel = " rel=nofollow" if link.nofollow else ""
    return f'<a href="{escape(link.url)}"{rel}>{escape(link.text)}</a>'


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
    """Short news: one sentence on the theme of the site, two on everyday life."""
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
