"""Requests as text: a request is restored exactly, or it is refused."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import sys
from collections import defaultdict, namedtuple
from decimal import Decimal
from uuid import UUID
from zoneinfo import ZoneInfo

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from scrapy import Field, FormRequest, Item, Request, Spider
from scrapy.http import JsonRequest
from scrapy.selector import Selector

from crawlproject.adapters.request_json import canonical_identity, dump_request, load_request
from crawlproject.urls.canonical import canonical_url


class Theirs(Spider):
    name = "theirs"

    def found(self, response: object) -> None: ...

    def failed(self, failure: object) -> None: ...


class Marked(Request):
    """A request class of a spider, with an additional attribute."""

    attributes = (*Request.attributes, "mark")

    def __init__(self, *args: object, mark: int = 0, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.mark = mark


SPIDER = Theirs()
MARKS = st.sampled_from(["__bytes__", "__tuple__", "__pairs__"])
keys = st.text(max_size=5) | MARKS
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=10)
    | st.binary(max_size=10)
)
hashable = keys | st.integers(-9, 9) | st.binary(max_size=3) | st.tuples(st.integers(-9, 9), keys)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(hashable, inner, max_size=3)
    ),
    max_leaves=8,
)
names = st.text("abcXYZ-", min_size=1, max_size=8)
header_values = st.text("abc ;=/é", max_size=8)
requests = st.builds(
    Request,
    url=st.sampled_from(["http://a.example/", "https://b.example/p?q=%C3%A9&x=1#part", "data:text/plain,x"]),
    callback=st.sampled_from([None, SPIDER.found, SPIDER.parse]),
    errback=st.sampled_from([None, SPIDER.failed]),
    method=st.sampled_from(["GET", "POST", "HEAD"]),
    headers=st.dictionaries(names, header_values | st.lists(header_values, max_size=3), max_size=3),
    body=st.binary(max_size=20),
    cookies=st.dictionaries(names, st.text(max_size=5), max_size=2)
    | st.lists(st.fixed_dictionaries({"name": names, "value": st.text(max_size=5), "path": st.just("/")}), max_size=2),
    meta=st.dictionaries(keys, values, max_size=4),
    cb_kwargs=st.dictionaries(names, values, max_size=2),
    encoding=st.sampled_from(["utf-8", "latin-1", "cp1252"]),
    priority=st.integers(-1000, 1000),
    dont_filter=st.booleans(),
    flags=st.lists(st.text(max_size=5), max_size=2),
)


def typed(value: object) -> object:
    """``value`` with the types of all its parts, since 1, 1.0 and True compare equal."""
    if isinstance(value, dict):
        return {typed(key): typed(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value).__name__, tuple(typed(part) for part in value)
    return type(value).__name__, value


def same(one: Request, other: Request) -> bool:
    return type(one) is type(other) and typed(one.to_dict(spider=SPIDER)) == typed(other.to_dict(spider=SPIDER))


@given(requests)
def test_a_request_comes_back_as_it_was(request: Request) -> None:
    text = dump_request(request, SPIDER)
    assert isinstance(json.loads(text), dict)
    again = load_request(text, SPIDER)
    assert same(request, again)
    assert again.callback == request.callback and again.errback == request.errback


@pytest.mark.parametrize(
    "request_",
    [
        FormRequest("http://a.example/", formdata={"q": ["coral", "reef é"]}, callback=SPIDER.found),
        Marked("http://a.example/", mark=7),
        JsonRequest("http://a.example/", data={"q": ["coral", None]}),
        Request("http://a.example/", headers={"X": ["1", "2", b"\xff"]}),
        Request("http://a.example/", meta={"redirect_urls": ["http://b.example/"], "deep": {"t": (1, (2, b"3"))}}),
    ],
)
def test_requests_of_every_kind_come_back(request_: Request) -> None:
    assert same(request_, load_request(dump_request(request_, SPIDER), SPIDER))


class Colour(enum.IntEnum):
    RED = 1


@dataclasses.dataclass
class Thing:
    size: int = 1


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    size: int
    inner: Thing
    counted: int = dataclasses.field(init=False, default=3)


@attrs.define
class Drawn:
    size: int


class Product(Item):
    name = Field()
    price = Field()


def strange_thing() -> Thing:
    """A ``Thing`` with an attribute that is no field."""
    thing = Thing()
    thing.other = 1  # type: ignore[attr-defined]
    return thing


def local_thing() -> object:
    """An object whose class cannot be found by name."""

    @dataclasses.dataclass
    class Local:
        size: int = 1

    return Local()


@pytest.mark.parametrize(
    "value",
    [
        {1, "a", b"b"},
        frozenset([(1, 2)]),
        datetime.datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=datetime.UTC),
        datetime.datetime(2026, 1, 2),
        datetime.date(2026, 1, 2),
        datetime.time(1, 2),
        datetime.timedelta(days=-1, microseconds=7),
        Decimal("1.10"),
        UUID(int=7),
        Thing(2),
        Frozen(1, Thing(5)),
        Drawn(4),
        Product(name="coral", price=Decimal("2.50")),
        Product(name={"deep": [Thing(1)]}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_that_spiders_pass_on_come_back(value: object) -> None:
    text = dump_request(Request("http://a.example/", meta={"it": value}, cb_kwargs={"it": [value]}), SPIDER)
    again = load_request(text, SPIDER)
    assert again.meta["it"] == value and type(again.meta["it"]) is type(value)
    assert again.cb_kwargs == {"it": [value]}


def test_text_that_links_carry_comes_back_as_text() -> None:
    [text] = Selector(text="<a>coral</a>").xpath("//a/text()").getall()[:1]
    found = etree.HTML("<a>coral</a>").xpath("//a/text()")[0]
    assert type(found) is not str
    again = load_request(dump_request(Request("http://a.example/", meta={"it": [found, text]}), SPIDER), SPIDER)
    assert again.meta["it"] == ["coral", "coral"]


def test_a_class_of_another_project_is_not_imported() -> None:
    """A person who can write into a crawl folder must not be able to choose what is imported."""
    text = dump_request(Request("http://a.example/", meta={"it": Thing(1)}), SPIDER)
    for module in ("antigravity", "os", "crawlproject.adapters.request_json"):
        with pytest.raises(ValueError, match="not an item class"):
            load_request(text.replace(Thing.__module__, module), SPIDER)
    with pytest.raises(ValueError, match="not a Request"):
        load_request('{"url": "http://a.example/", "_class": "antigravity.Request"}', SPIDER)
    assert "antigravity" not in sys.modules


Point = namedtuple("Point", "x y")
CIRCLE: dict[str, object] = {}
CIRCLE["self"] = CIRCLE


@pytest.mark.parametrize(
    "value",
    [
        object(),
        float("nan"),
        float("inf"),
        2**64,
        "\ud800",
        datetime.datetime(2026, 1, 2, tzinfo=ZoneInfo("Europe/Berlin")),
        Colour.RED,
        strange_thing(),
        Point(1, 2),
        local_thing(),
        defaultdict(list),
        [{"deep": object()}],
        {object(): 1},
        CIRCLE,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_would_not_come_back_is_refused(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        dump_request(Request("http://a.example/", meta={"it": value}), SPIDER)


@pytest.mark.parametrize("callback", [lambda response: None, print])
def test_a_callback_that_is_no_method_of_the_spider_is_refused(callback: object) -> None:
    with pytest.raises(ValueError, match="not an instance method"):
        dump_request(Request("http://a.example/", callback=callback), SPIDER)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "7",
        "{}",
        '{"url": 7}',
        '{"url": "no url"}',
        '{"url": "http://a.example/", "callback": "gone"}',
        '{"url": "http://a.example/", "_class": "no.such.module.Request"}',
        '{"url": "http://a.example/", "_class": "scrapy.NoSuchRequest"}',
        '{"url": "http://a.example/", "_class": "subprocess.Popen"}',
        '{"url": "http://a.example/", "_class": "notdotted"}',
        '{"url": "http://a.example/", "body": {"__bytes__": 7}}',
        '{"url": "http://a.example/", "body": {"__bytes__": "?"}}',
    ],
)
def test_text_that_is_no_request_any_more_is_reported(text: str) -> None:
    with pytest.raises(ValueError):
        load_request(text, SPIDER)


# ------------------------------------------------------------ what the frontier knows it by


@pytest.mark.parametrize(
    ("request_", "identity"),
    [
        (Request("HTTP://A.example/b/../index.html?utm_source=x#part"), "http://a.example/"),
        (Request("ftp://a.example/file#part"), "ftp://a.example/file"),
        (Request("data:text/plain,x"), "data:text/plain,x"),
    ],
)
def test_a_plain_get_is_known_by_its_canonical_url(request_: Request, identity: str) -> None:
    assert canonical_identity(request_, canonical_url) == identity


def test_what_is_no_plain_get_is_distinguished() -> None:
    url = "http://a.example/"
    different = [
        Request(url),
        Request(url, method="HEAD"),
        Request(url, method="POST"),
        Request(url, method="POST", body=b"1"),
        Request(url, method="POST", body=b"2"),
        Request(url, body=b"1"),
    ]
    known = [canonical_identity(request, canonical_url) for request in different]
    assert len(set(known)) == len(different)
    assert all(key.partition("#")[0] == url for key in known)
    spelled = Request("http://a.example/#part", method="POST", body=b"1")
    assert canonical_identity(spelled, canonical_url) == known[3]


@given(st.sampled_from(["http://", "http://a.example/", "ftp://", "data:,", "about:"]), st.text(max_size=30))
def test_no_request_is_too_strange_to_be_distinguished(start: str, tail: str) -> None:
    try:
        request = Request(start + tail, method="POST")
    except ValueError:
        return  # no request at all
    assert canonical_identity(request, canonical_url)
    assert canonical_identity(request.replace(method="GET"), canonical_url)
