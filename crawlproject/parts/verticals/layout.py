"""The kind of a page and its units: by what the page says about itself, else by its repeated parts.

1. comments, answers or forum posts as structured data, at least two: a thread
2. several articles as structured data: a listing
3. repeated parts with an author and a day each, and their own text: a thread
4. repeated parts that each link to a different page, and are half of the page: a listing
5. one article as structured data or Open Graph, or one ``article`` element with a day: an article
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from statistics import median
from typing import Any

from crawlproject.pages.html.encoding import decode
from crawlproject.pages.html.head import day_of
from crawlproject.pages.main_content import read_tree
from crawlproject.parts.verticals.repeated_parts import PartFrame, Path, RepeatedPart
from crawlproject.parts.verticals.site_template import ARTICLE, ENTRY, LISTING, POST, THREAD, Layout, Unit
from crawlproject.parts.verticals.structured_data import Thing, open_graph_type, text_of, things_in
from crawlproject.parts.verticals.unit_fields import Fields, absolute, fields_of, is_bylined

POSTS = frozenset(("comment", "answer", "discussionforumposting", "usercomments", "socialmediaposting"))
THREADS = frozenset(("discussionforumposting", "qapage", "question", "discussion"))
ARTICLES = frozenset((
    "article", "newsarticle", "blogposting", "reportagenewsarticle", "analysisnewsarticle", "opinionnewsarticle",
    "reviewnewsarticle", "liveblogposting", "hentry", "report", "scholarlyarticle", "medicalscholarlyarticle",
))  # fmt: skip
LISTINGS = frozenset(("itemlist", "searchresultspage", "collectionpage", "offercatalog", "blog"))

LONG = 1_500  # characters from which an article in a list counts as complete
SHORT = 500  # characters that an article has at least
_LOOKED = 12  # parts of a group that are examined
_FEW = 20  # characters of a post, at least
_MOST_OF = 0.6  # of the parts of a group decide its kind
_HALF = 0.5  # of the text of a page that must be in a listing


class LayoutDocument:
    """A parsed page: its tree, what it says about itself, and its repeated parts."""

    def __init__(self, url: str, body: bytes, content_type: str = "") -> None:
        _, self.markup = decode(body, content_type)
        self.url = url
        self.root: Any | None = read_tree(self.markup)
        self.things: list[Thing] = [] if self.root is None else things_in(self.markup, self.root)
        self.frame = frame = None if self.root is None else PartFrame(self.root)
        self.groups: dict[Path, list[RepeatedPart]] = {} if frame is None else frame.groups()
        self.size = 0 if frame is None else frame.size


def layout_of(url: str, body: bytes, content_type: str = "") -> Layout:
    """The layout of one page, without knowledge of its site."""
    document = LayoutDocument(url, body, content_type)
    return Layout() if document.root is None else read_layout(document)


def read_layout(document: LayoutDocument, known: dict[Path, str] | None = None) -> Layout:
    """The layout of a page; ``known`` are the paths of units on other pages of its site, with their kinds."""
    if found := _said_layout(document):
        return found
    kind, parts = best_group(document, known)
    if kind == POST:
        elements = [part.element for part in parts]
        below = frozenset(elements)
        posts = [_unit(document, POST, element, below) for element in elements]
        article = _article(document, elements)
        return Layout(THREAD, tuple(posts)) if article is None else Layout(ARTICLE, (article, *posts))
    article = _article(document, guess=not kind)
    if kind and article is None:
        return Layout(LISTING, tuple(_unit(document, kind, part.element) for part in parts))
    return Layout(ARTICLE, (article,)) if article is not None else Layout()


def best_group(document: LayoutDocument, known: dict[Path, str] | None = None) -> tuple[str, list[RepeatedPart]]:
    """The repeated parts that are the units of a page, and their kind; empty when there are none.

    Of nested groups with as many parts, the outer one is chosen: it has author and day, too.
    """
    best: tuple[float, str, list[RepeatedPart]] = (0.0, "", [])
    for path, parts in document.groups.items():
        kind = (known or {}).get(path) or kind_of(document.url, parts)
        if not kind:
            continue
        above = {up for part in parts for up in part.element.iterancestors()}
        members = parts if kind == POST else [part for part in parts if part.element not in above]
        elements = {part.element for part in members}
        whole = [part for part in members if elements.isdisjoint(part.element.iterancestors())]  # not in another
        text = sum(part.own + part.linked for part in whole)
        if kind != POST and path not in (known or {}) and text < _HALF * document.size:
            continue
        weight = text * (2.0 if kind == POST else 1.0) * (4.0 if path in (known or {}) else 1.0)
        if weight > best[0] and len(members) > 1:
            best = (weight, kind, members)
    return best[1], best[2]


def kind_of(url: str, parts: Sequence[RepeatedPart]) -> str:
    """``POST``, ``ENTRY`` or ``ARTICLE``, by what most of the parts look like; empty when that is none of these."""
    if len(parts) < 3:  # two alike are chance, unless the site is known to have them
        return ""
    own, linked = median(part.own for part in parts), median(part.linked for part in parts)
    looked = [fields_of(part.element, url) for part in parts[:: max(1, len(parts) // _LOOKED)]]
    enough = _MOST_OF * len(looked)
    if len({found.url for found in looked if found.leads}) >= enough:
        if own < LONG:
            return ENTRY
        return ARTICLE if sum(found.day_said for found in looked) >= enough else ""
    signed = sum(bool(found.author) and found.day_said for found in looked)
    return POST if signed >= enough and own >= max(_FEW, linked) else ""


def _said_layout(document: LayoutDocument) -> Layout | None:
    """The layout according to structured data."""
    types = {name for thing in document.things for name in thing.types}
    posts = [thing for thing in document.things if thing.types & POSTS or (thing.types & THREADS and _text(thing))]
    posts = [thing for thing in posts if _text(thing)]
    articles = [
        thing
        for thing in document.things
        if thing.types & ARTICLES and not (thing.above and thing.above.types & ARTICLES)
    ]
    if len(posts) > 1:
        units = tuple(_said_unit(document, POST, thing) for thing in posts)
        one = (
            _article(document, [thing.element for thing in posts])
            if len(articles) == 1 and not types & THREADS
            else None
        )
        return Layout(ARTICLE, (one, *units)) if one is not None else Layout(THREAD, units)
    elements = {thing.element for thing in articles if thing.element is not None}
    first = {thing.element: thing for thing in reversed(articles) if thing.element is not None}
    marked = [thing for thing in reversed(first.values()) if elements.isdisjoint(thing.element.iterancestors())]
    if len(marked) > 1:
        texts = [len(text_of(thing.element)) for thing in marked]
        if sum(texts) > _HALF * document.size:
            kind = ARTICLE if median(texts) >= LONG else ENTRY
            return Layout(LISTING, tuple(_said_unit(document, kind, thing) for thing in marked))
    return None


def _said_unit(document: LayoutDocument, kind: str, thing: Thing) -> Unit:
    values = thing.values
    title = values.get("headline") or values.get("name", "")
    url = values.get("url", "")
    text = _text(thing) or (text_of(thing.element) if thing.element is not None else "")
    day = day_of(values.get("datepublished") or values.get("datecreated") or values.get("commenttime") or "")
    author = " ".join(values.get("author", values.get("creator", "")).split())
    return Unit(kind, text, title, absolute(document.url, url) if url else "", author[:200], day)


def _text(thing: Thing) -> str:
    return thing.values.get("text") or thing.values.get("commenttext") or thing.values.get("articlebody", "")


def _article(document: LayoutDocument, posts: Sequence[Any] = (), *, guess: bool = False) -> Unit | None:
    """The single article of a page, without ``posts`` below it, if the page declares it or, with ``guess``, looks like one."""
    frame = document.frame
    assert document.root is not None and frame is not None
    below = set(posts)
    said = [thing for thing in document.things if thing.types & ARTICLES]
    elements = [
        element
        for element in document.root.iter("article")
        if not any(up.tag == "article" for up in element.iterancestors())
    ]
    large = [element for element in elements if len(" ".join(element.itertext())) >= SHORT]
    if document.size < SHORT:
        return None
    large = [element for element in large if below.isdisjoint((element, *element.iterancestors()))]
    named = said or open_graph_type(document.markup) == "article"
    dated = len(large) == 1 and fields_of(large[0], document.url).published
    if not (named or dated or (guess and is_bylined(document.root))):
        return None
    marked = next((thing for thing in said if thing.element is not None), None)
    thing = marked or (said[0] if said else Thing(frozenset()))
    element = thing.element if thing.element is not None else large[0] if len(large) == 1 else None
    whole = element if element is not None else document.root
    text = _text(thing) or text_of(whole, lambda part: part in below or frame.is_beside(part))
    fields = fields_of(element, document.url) if element is not None else Fields()
    day = day_of(thing.values.get("datepublished", "")) or fields.published
    title = thing.values.get("headline") or thing.values.get("name") or _title_of(document.root)
    return Unit(ARTICLE, text, title, document.url, thing.values.get("author", "") or fields.author, day)


def _title_of(root: Any) -> str:
    for name in ("h1", "title"):
        for element in root.iter(name):
            if text := " ".join(" ".join(element.itertext()).split()):
                return text
    return ""


def _unit(document: LayoutDocument, kind: str, element: Any, others: Set[Any] = frozenset()) -> Unit:
    """The unit in ``element``, without ``others`` inside it: replies to a post."""
    fields = fields_of(element, document.url)
    if kind == POST:
        return Unit(kind, text_of(element, others.__contains__), "", fields.permalink, fields.author, fields.published)
    return Unit(kind, text_of(element), fields.title, fields.url, fields.author, fields.published)
