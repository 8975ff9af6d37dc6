"""A generated deep web: sites whose items are behind search forms, with known contents, and forms that are not queries.

Text comes from the phrase banks of the sample web, with invented names of people and places that follow Zipf's law, so that
the vocabulary grows with the collection. A site answers like a small search engine: all words must match, the order is fixed.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from itertools import accumulate
from random import Random
from typing import Literal
from urllib.parse import parse_qsl, urlencode, urlsplit

from crawlproject.records import Reply
from crawlproject.urls.post import as_get, post_of
from crawlproject.webs.base import not_held
from crawlproject.webs.sample.plan import EVERYDAY, THEMES, Theme

Kind = Literal["search", "advanced", "books", "listing", "lies", "silent", "members", "priced"]

TOPIC = "coral reef"
THEME = THEMES[0]  # corals
PER_PAGE = 10
HTML = {"content-type": "text/html; charset=utf-8"}
ATTRIBUTES = ("author", "genre", "publisher", "year", "town", "rooms", "keeper")
PAGINGS = ("next", "numbers", "start")

_WORD = re.compile(r"[^\W\d_]+")
_SYLLABLES = tuple(re.findall("..", "kalomirentosurbeldanfigorhalisjonlumnaroseprique"))
_GENRES = ("Field guides", "Novels", "Travel", "Science", "History", "Poetry", "Cookery", "Children")
_TOWNS = ("Tern Cay", "Halimeda", "Port Nacre", "Sable", "Osprey", "Longmere", "Dunmouth", "Ashwell")


@dataclass(frozen=True, slots=True)
class DeepItem:
    """An item: its text, the attributes that a form can query, and whether it is about ``TOPIC``."""

    title: str
    text: str
    attributes: Mapping[str, str]
    relevant: bool


@dataclass
class DeepSite:
    """One site. ``on_topic`` is the share of its items about the topic, ``cap`` the most results of one query (0: all).

    ``pure``: the attributes of an item follow from each other, as an author determines the publisher of the books. ``posts``:
    the form is sent by POST, and a GET query is answered only for further result pages.
    """

    host: str
    kind: Kind
    size: int
    on_topic: float = 0.3
    cap: int = 0
    paging: str = "next"
    pure: bool = False
    posts: bool = False
    asked: Counter[str] = field(default_factory=Counter)  # requests to forms that are not queries, by path

    @cached_property
    def items(self) -> list[DeepItem]:
        rng = Random(f"deep {self.host}")
        names = _names(max(50, self.size // 5))
        weights = list(accumulate(1 / rank for rank in range(1, len(names) + 1)))
        others = [*THEMES[1:], EVERYDAY]
        return [
            self._item(rng, THEME if rng.random() < self.on_topic else rng.choice(others), names, weights)
            for _ in range(self.size)
        ]

    @cached_property
    def order(self) -> list[int]:
        """The items in the order of every result list."""
        order = list(range(self.size))
        Random(f"order {self.host}").shuffle(order)
        return order

    @cached_property
    def postings(self) -> dict[str, array[int]]:
        """Word -> the items that contain it, in the order of result lists."""
        found: dict[str, array[int]] = defaultdict(lambda: array("I"))
        for number in self.order:
            item = self.items[number]
            for word in dict.fromkeys(
                _WORD.findall(f"{item.title} {item.text} {item.attributes.get('author', '')}".lower())
            ):
                found[word].append(number)
        return dict(found)

    @property
    def home(self) -> str:
        return f"http://{self.host}/"

    def url_of(self, number: int) -> str:
        """The URL of an item."""
        return f"{self.home}item/{number}"

    @property
    def relevant(self) -> set[str]:
        """The URLs of the items about the topic."""
        return {self.url_of(number) for number, item in enumerate(self.items) if item.relevant}

    def _item(self, rng: Random, theme: Theme, names: Sequence[str], weights: Sequence[float]) -> DeepItem:
        subject = rng.choice(list(theme.subjects))
        person, place, sight = rng.choices(names, cum_weights=weights, k=3)
        year, number = rng.randrange(1962, 2004), rng.randrange(3, 80)
        remark = rng.choice(theme.remarks).format(subject=subject, place=place, year=year, number=number)
        text = (
            f"{rng.choice(theme.subjects[subject])} {remark} {sight} was there. {rng.choice(theme.subjects[subject])}"
        )
        tied = sum(map(ord, person)) if self.pure else rng.randrange(10_000)
        attributes = {"author": f"{person} {names[tied % 40]}"} if self.kind != "listing" else {}
        if self.kind == "books":
            attributes |= {"genre": _GENRES[tied % 8], "publisher": f"{names[tied % 24]} Press"}
        elif self.kind == "priced":
            attributes |= {"price": str(round(rng.lognormvariate(4.0, 1.0)) + 1)}
        elif self.kind == "advanced":
            attributes |= {"year": str(1980 + rng.randrange(25))}
        elif self.kind == "listing":
            attributes |= {
                "town": rng.choice(_TOWNS),
                "rooms": str(1 + rng.randrange(5)),
                "keeper": rng.choice(names[:30]),
            }
        return DeepItem(f"{subject[0].upper()}{subject[1:]} at {place}", text, attributes, theme is THEME)

    # ------------------------------------------------------------ answers

    def get(self, url: str) -> Reply:
        post = post_of(url)
        split = urlsplit(as_get(url))
        sent = dict(parse_qsl(split.query))
        if post is not None and not (self.posts and post.url == f"{self.home}find"):
            self.asked[f"POST {split.path}"] += 1
            return not_held(url)
        if split.path == "/":
            return self._page(url, f"<p>{self.host} has {self.size} pages on {THEME.about}.</p>" + self._latest())
        if split.path == "/robots.txt":
            return Reply(url, 200, {"content-type": "text/plain"}, b"User-agent: *\nDisallow: /private\n")
        if split.path == "/about":
            return self._page(url, "<p>We collect everything.</p>")
        if split.path == "/find":
            if self.posts and post is None and not {"page", "start"} & sent.keys():
                return self._page(url, "<p>Please use the form.</p>")
            return self._page(url, self._results(sent))
        if split.path.startswith("/item/") and split.path[6:].isdecimal() and int(split.path[6:]) < self.size:
            item = self.items[int(split.path[6:])]
            return self._page(url, f"<h1>{escape(item.title)}</h1><p>{escape(item.text)}</p>{_facts(item)}", form=False)
        if split.path in ("/login", "/subscribe", "/contact", "/pay", "/upload", "/delete"):
            self.asked[split.path] += 1
        return not_held(url)

    def matches(self, sent: Mapping[str, str]) -> list[int]:
        """The items that match a query, in the order of the list."""
        found: Sequence[int] = self.order
        words = _WORD.findall(sent.get("q", "").lower())
        if words:
            lists = [self.postings.get(word, array("I")) for word in words]
            rest = [set(other) for other in lists[1:]]
            found = [number for number in lists[0] if all(number in other for other in rest)]
        for name in ATTRIBUTES:
            if value := sent.get(name, "").strip().lower():
                found = [number for number in found if value in self.items[number].attributes.get(name, "").lower()]
        for name, sign in (("price_from", 1), ("price_to", -1)):
            if (end := sent.get(name, "")).isdecimal() and self.kind == "priced":
                found = [n for n in found if sign * (int(self.items[n].attributes["price"]) - int(end)) >= 0]
        asked = any(sent.get(name) for name in ("q", *ATTRIBUTES))
        return list(found) if asked or self.kind == "listing" else []

    def _results(self, sent: Mapping[str, str]) -> str:
        if self.kind == "silent" or self.kind == "members":
            return "<p>Loading ...</p><div id=results></div>"
        numbers = self.order[:25] if self.kind == "lies" else self.matches(sent)
        shown = numbers[: self.cap] if self.cap else numbers
        start = int(sent.get("start", "0")) if self.paging == "start" else PER_PAGE * (int(sent.get("page", "1")) - 1)
        rows = "".join(self._row(number) for number in shown[start : start + PER_PAGE])
        if not rows:
            return "<p>No results.</p>"
        return f"<p>{len(numbers)} results</p><ol>{rows}</ol><p>{self._pages(sent, start, len(shown))}</p>"

    def _row(self, number: int) -> str:
        item = self.items[number]
        facts = "" if self.kind in ("search", "lies") else _facts(item)
        return f"<li><a href='/item/{number}'>{escape(item.title)}</a><p>{escape(item.text[:160])}</p>{facts}</li>"

    def _pages(self, sent: Mapping[str, str], start: int, total: int) -> str:
        links = []
        this = start // PER_PAGE + 1
        for number in range(1, (total + PER_PAGE - 1) // PER_PAGE + 1):
            place = {"start": (number - 1) * PER_PAGE} if self.paging == "start" else {"page": number}
            href = escape(f"/find?{urlencode({**sent, **place})}")
            if self.paging == "numbers" and abs(number - this) < 4:
                links.append(f"<a href='{href}'>{number}</a>" if number != this else str(number))
            elif self.paging != "numbers" and number == this + 1:
                links.append(f"<a href='{href}'>Next &raquo;</a>")
        if self.kind in ("books", "listing"):
            links.append(f"<a href='{escape('/find?' + urlencode({**sent, 'sort': 'price'}))}'>cheapest first</a>")
        return " ".join(links)

    def _latest(self) -> str:
        if self.kind in ("silent", "members"):
            return ""
        return "".join(f"<p><a href='/item/{n}'>{escape(self.items[n].title)}</a></p>" for n in self.order[:3])

    def _page(self, url: str, body: str, *, form: bool = True) -> Reply:
        title = f"{THEME.name} | {self.host}"
        forms = self._form() if form else ""
        html = f"<!doctype html><html lang=en><title>{title}</title><p><a href='/'>Home</a> <a href='/about'>About us</a></p>"
        others = _NO_QUERIES + _NO_POSTS * self.posts if form else ""
        return Reply(url, 200, HTML, f"{html}{forms}{body}{others}</html>".encode(), 0.05)

    def _form(self) -> str:
        match self.kind:
            case "advanced":
                years = _menu("year", "any year", map(str, range(1980, 2005)))
                inner = f"{_input('q', 'Search')}{_input('author')}{years}{_SORT}"
            case "books":
                inner = f"{_input('author')}{_input('publisher')}{_menu('genre', 'All genres', _GENRES)}{_SORT}"
            case "listing":
                rooms = _menu("rooms", "Any", "12345")
                inner = f"{_menu('town', 'Any', _TOWNS)}{rooms}{_input('keeper')}{_SORT}"
            case "priced":
                inner = f"{_input('q', 'Search')}{_input('price_from', 'Price from')}{_input('price_to', 'to')}{_SORT}"
            case "members":
                return ""
            case _:
                inner = _input("q", "Search")
        how = " method=post" if self.posts else ""
        return f"<form action=/find{how}>{inner}<input type=submit value=Search></form>"


def _input(name: str, label: str = "") -> str:
    return f"<label>{label or name.capitalize()} <input name={name}></label>"


def _menu(name: str, everything: str, options: Iterable[str]) -> str:
    entries = "".join(f"<option>{option}</option>" for option in options)
    return f"<label>{name.capitalize()} <select name={name}><option value=''>{everything}</option>{entries}</select></label>"


_SORT = "<label>Sort by <select name=sort><option>date<option>price<option>title</select></label>"
_NO_QUERIES = """<form action=/login><input name=user><input type=password name=word><button>Search members</button></form>
<form action=/subscribe><input name=email placeholder="Your mail"><button>Subscribe</button></form>
<form action=/contact><input name=subject><textarea name=q></textarea><button>Find us</button></form>
<form action=/pay><input name=q><input name=card_number><button>Go</button></form>
<form action=/upload><input type=file name=q><button>Search</button></form>
<form action=/delete><input type=hidden name=id value=7><button>Delete</button></form>
<form action=/signin method=post><input name=q type=search><input type=password name=word><button>Search</button></form>
<form action=/write method=post><input name=subject><textarea name=q></textarea><button>Find us</button></form>
<form action=/review method=post><input name=title><button>Post</button></form>
<form action=/tags method=post><input name=q placeholder="Search tags"><button>Add</button></form>
<form action=/poll method=post><select name=find><option>yes<option>no</select><button>Vote</button></form>
<form action=/picture method=post enctype=multipart/form-data><input name=q type=search><button>Search</button></form>
<form action=/items method=post><input type=hidden name=action value=remove><input name=q type=search><button>Go</button></form>
<form action=/members method=post><input type=hidden name=csrf_token value=9f86d081884c7d65><input name=q type=search></form>"""
# Links that look like the notation for a POST in archive indexes and in this project.
_NO_POSTS = '<p><a href="/find#POST?q=reef">All</a> <a href="/find?__wb_method=POST&amp;q=coral">Most</a></p>'


def _names(count: int) -> list[str]:
    base = len(_SYLLABLES)
    names = []
    for number in range(count):
        parts, rest = [_SYLLABLES[number % base]], number // base
        for _ in range(2):
            parts.append(_SYLLABLES[(rest + 7 * number) % base])
            rest //= base
        names.append("".join(parts).capitalize() + (_SYLLABLES[rest % base] if rest else ""))
    return list(dict.fromkeys(names))


def _facts(item: DeepItem) -> str:
    return (
        "<dl>"
        + "".join(f"<dt>{name.capitalize()}</dt><dd>{value}</dd>" for name, value in item.attributes.items())
        + "</dl>"
    )
