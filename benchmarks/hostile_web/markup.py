"""Pages of the hostile web as HTML. Its sites do not look alike: each has its own layout."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from random import Random
from typing import NamedTuple


class A(NamedTuple):
    """A link and its anchor text."""

    url: str
    text: str


LAYOUTS = ("modern", "tables", "plain")


def anchor(link: A) -> str:
    return f'<a href="{escape(link.url)}">{escape(link.text)}</a>'


def listed(links: Iterable[A]) -> str:
    return "<ul>\n" + "\n".join(f"<li>{anchor(link)}</li>" for link in links) + "\n</ul>" if links else ""


def woven(texts: Sequence[str], links: Sequence[A], rng: Random) -> str:
    """Paragraphs with links in them, each after a sentence."""
    blocks = [[text] for text in texts] or [[""]]
    for link in links:
        rng.choice(blocks).append(f"{rng.choice(('See', 'Compare', 'Read also', 'This comes from'))} {anchor(link)}.")
    return "\n".join(f"<p>{' '.join(block)}</p>" for block in blocks)


def page(
    title: str, body: str, *, layout: str, nav: Iterable[A] = (), aside: str = "", head: str = "", site: str = ""
) -> bytes:
    """A whole document in the layout of its site. ``body``, ``aside`` and ``head`` are HTML."""
    start = (
        f"<!doctype html>\n<html lang=en><head><meta charset=utf-8><title>{escape(title)}</title>{head}</head><body>"
    )
    menu = " | ".join(map(anchor, nav))
    heading = f"<h1>{escape(title)}</h1>"
    if layout == "modern":
        inside = (
            f"<header><p>{escape(site)}</p><nav>{menu}</nav></header><main><article>{heading}{body}</article></main>"
            f"<aside>{aside}</aside>"
        )
    elif layout == "tables":
        inside = (
            f"<table><tr><td colspan=2>{menu}</td></tr><tr><td>{heading}{body}</td><td>{aside}</td></tr></table>"
            f"<p>{escape(site)}</p>"
        )
    else:
        inside = f"{heading}{body}<hr>{aside}<p>{menu}</p>"
    return f"{start}{inside}</body></html>\n".encode()
