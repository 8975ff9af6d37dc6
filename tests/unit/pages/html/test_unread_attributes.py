"""A page without the attributes that no reader uses gives the same document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.archives import shared_data
from support.havoc import mutated

from crawlproject.pages.html import parse
from crawlproject.pages.html.document import READ, READ_OF_ALL
from crawlproject.pages.html.document_builder import OPENERS, DocumentBuilder
from crawlproject.pages.html.parse import parse_document
from crawlproject.webs.open import open_web
from crawlproject.webs.sample import SampleWeb

unread_attributes = pytest.importorskip("crawlproject.pages.html.unread_attributes", reason="not compiled")

LINK = b"<a href=x class=k id=i rel=nofollow>y</a>"
NAMES = (
    "class CLASS id Id style hidden href HREF src alt rel title data-x lang xml:lang a:class name content type datetime"
)
VALUES = [
    "k",
    "'k j'",
    '"k j"',
    '"display:none"',
    "'>'",
    '"<p class=k>"',
    "'</script>'",
    '"a&quot;b"',
    "&#39;",
    "x/",
    "'",
    '"',
]
VALUES += ["", "`", "a=b", "<", "'\n'", '"\xe9"', "'&#", "\x00"]
TAGS = "p div span b a A area img br/ body html head h1 li td table form svg path frame frameset noscript template time meta base"
TAGS += " link title textarea iframe noframes noembed xmp script SCRIPT style plaintext a:b x-y option select object math mi"
# fmt: off
PIECES = [
    b"word", b" ", b"\n", b"<", b">", b"/", b"</", b"/>", b"'", b'"', b"=", b"&amp;", b"\x00", b"\xff", b"\xc3\xa9", b"\f", b"\r",
    b"<!--", b"-->", b"--!>", b"<!-->", b"<!--->", b"<!---->", b"<!---!>", b"->", b"--", b"<![CDATA[", b"]]>", b"<![endif]>",
    b"<!doctype html>", b"<!DOCTYPE html PUBLIC \"a\" 'b'>", b"<!doctype html PUBLIC \"a>b\">", b"<!doctype a [<!entity b 'c'>]>",
    b"<?xml version='1.0'?>", b"<?a", b"<?>", b"<!x>", b"< p>", b"<1>", b"</>", b"</1>", b"</p class=k>", b"</p >", b"</p/>",
    b"<style>.k{display:none}</style>", b"<style>", b"<script><!-- <script></script> --></script>", b"<script>a='</p>'</script>",
    b"<script>a<b</script>", b"<script/>", b"<title/>", b"<title><b class=k></title>", b"</script\r>",
    b"<a href='--><p title=t>'>y</a>", b"<a href='</title></script><p title=t>'>y</a>", b"<a href=\"'><p title=t>\">y</a>",
    b"<textarea>&lt;</textarea>", b"<noscript><img src=a class=k></noscript>",
    b"<x-y class=k>word</x\ry>", b"<a_ class=k>word</a\x7f>", b"<o:p class=k>", LINK,
]
# fmt: on


@contextmanager
def uncut() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parse, "without_unread", None)
        yield


def check(body: bytes, **options: Any) -> None:
    """Check that ``body`` gives the same document with and without unread attributes."""
    found = parse_document(body, **options)
    with uncut():
        assert found == parse_document(body, **options), (body, options)


def a_tag(random: Random) -> bytes:
    """A start tag, mostly a plain one."""
    parts = [random.choice(TAGS.split())]
    for _ in range(random.randrange(4)):
        name = random.choice(NAMES.split())
        plain = random.random() < 0.9
        between = "=" if plain else random.choice(["", " =", "= ", "\n=\t", "=="])
        value = random.choice(VALUES[:4] if plain else VALUES)
        blank = " " if plain else random.choice(["", "\n", "\t ", "/", "\f", "\v", " /"])
        parts.append(f"{blank}{name}{between}{value}" if random.random() < 0.9 else f"{blank}{name}")
    end = ">" if random.random() < 0.9 else random.choice(["/>", " />", " >", "", "//>", "/ >", "\n"])
    return f"<{''.join(parts)}{end}".encode()


def a_page(random: Random) -> bytes:
    pieces = []
    for _ in range(random.randrange(25)):
        tag = a_tag(random)
        name = (re.match(rb"<([\w:-]+)", tag) or [b"", b"p"])[1]
        pieces.append(tag)
        pieces.append(random.choice([b"word", b"", LINK, random.choice(PIECES)]))
        pieces.append(random.choice([b"</" + name + b">", b"</" + name.upper() + b">", b"", b"</p>"]))
        pieces.append(random.choice([b"", b"", LINK]))
    return b"".join(pieces)


def options_of(random: Random) -> dict[str, Any]:
    return {
        "content_type": random.choice(["", "text/html; charset=utf-8"]),
        "aggregation_level": random.choice([0, 1, "root"]),
        "tag_paths": random.random() < 0.7,
        "agent": random.choice(["", "robots"]),
    }


@pytest.mark.parametrize(
    ("markup", "left"),
    [
        ('<p title="t" onclick=\'a>b\' dir=ltr class="c">', '<p    class="c">'),
        ('<IMG SRC="a" ALT="b" width=5 ismap>', '<IMG  ALT="b"  >'),
        ('<img alt=a class="b"/>', "<img alt=a />"),
        ("<img alt=a width=5/>", "<img alt=a width=5/>"),
        ('<p class="c" id="i">text</p><p class="c">text</div>', '<p  >text</p><p class="c">text</div>'),
        ('<div class="c"><p class="c">text</p></div>', '<div class="c"><p >text</p></div>'),
        ('<a class="c" title="t" href="h">text</a>', '<a class="c"  href="h">text</a>'),
        ("<style>.c{}</style><p class=c id=i>text</p>", "<style>.c{}</style><p class=c >text</p>"),
        ('<frame src="a" name="b"><script src="a">', '<frame src="a" ><script >'),
        ('<!doctype html "a"><!-- <p dir="a"> --><p dir="a">', '<!doctype html "a"><!-- <p dir="a"> --><p >'),
        ("<script>'<p dir=a></p>'</script><p dir=a>", "<script>'<p dir=a></p>'</script><p >"),
        ("<title><!-- &lt;</title><p dir=a>", None),
        ("<svg xlink:href=a xmlns=b><path d='M 0 0'/>", "<svg xlink:href=a ><path />"),
        ("<html dir=a><head dir=a><meta charset=a><body dir=a>", None),
        ("<p dir=a", None),
        ("<p dir=a dir='b>", None),
        ("<p dir='a'dir='b'>", None),
        ("<p dir = a>", None),
        ("<p / dir=a>", None),
        ("<p\fdir=a>", None),
        ("<p dir=a`b>", None),
        ("<p @click='a b'>", None),
        ("1 < 2<p dir=a>", None),
        ("</p dir=a><p dir=a>", None),
        ("<!--><p dir=a>-->", None),
        ("<!-- --!><p dir=a>-->", None),
        ("<![CDATA[<p dir=a>]]>", None),
        ("<!doctype a '><p dir=a>'><p dir=a>", None),
        ("<plaintext><p dir=a>", None),
        ("<script/><p dir=a></script>", None),
        ("<script><!-- <script></script><p dir=a>", None),
        ("<textarea><b></textarea><p dir=a>", None),
    ],
)
def test_what_nobody_reads_is_left_out_of_plain_tags(markup: str, left: str | None) -> None:
    assert unread_attributes.without_unread(markup.encode(), True).decode() == (markup if left is None else left)


@pytest.mark.parametrize(
    ("before", "end"),
    [
        ("<!-->", "-->"),
        ("<!--->", "-->"),
        ("<!-- --!>", "-->"),
        ("<!---!>-->", "-->"),
        ("<![CDATA[>", "]]>"),
        ("<!doctype a '>", "'>"),
        ("<?a '>", "'>"),
        ("<title/>", "</title>"),
        ("<textarea/>", "</textarea>"),
        ("<script/>", "</script>"),
        ("<title><b></title>", "</title>"),
        ("<script><!-- </script>", "--></script>"),
        ("<script><!-- <script></script></script>", "--></script>"),
        ("<p title='>", "'"),
        ("</p title='>'>", "'"),
        ("</>", ">"),
        ("< p title='>", "'>"),
        ("<p 'title='>", "'>"),
        ("<p title=a'>", "'>"),
    ],
)
def test_a_tag_in_a_value_is_no_tag(before: str, end: str) -> None:
    """A reader that mistook ``before`` for other markup would cut within the address of the link."""
    for quote in "'\"":
        check(f"{before}<a href={quote}{end}<p title=t>{quote}>y</a><a href=x>z</a>".encode())


def test_labels_are_left_out_where_there_are_no_tag_paths() -> None:
    assert unread_attributes.without_unread(b"<div id=i class=c><a href=h class=c>", False) == b"<div  ><a href=h >"
    assert unread_attributes.without_unread(b"<style></style><b class=c id=i>", False) == b"<style></style><b class=c >"


def test_a_tag_with_very_many_attributes() -> None:
    body = b"<p " + b" ".join(b"a%d=1" % number for number in range(20_000)) + b" hidden>text" + LINK
    assert b"hidden" in unread_attributes.without_unread(body, True)
    check(body)


def test_pages_by_chance() -> None:
    random = Random(5)
    web = SampleWeb()
    pages = [web.get(url).body for url in random.sample(sorted(web.urls()), 40)]
    for number in range(3_000):
        page = a_page(random)
        body = (page, mutated(page, PIECES, random), mutated(random.choice(pages)[:4_000], [page, *PIECES], random))[
            number % 3
        ]
        check(body, **options_of(random))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(PIECES) | st.builds(a_tag, st.randoms()) | st.binary(max_size=5), max_size=30),
    st.booleans(),
)
def test_any_markup(pieces: list[bytes], tag_paths: bool) -> None:
    check(b"".join(pieces), tag_paths=tag_paths)


class Recording(dict[str, str]):
    """Attributes that record which of them are read; ``given`` are their values."""

    def __init__(self, given: dict[str, str]) -> None:
        super().__init__(given)
        self.asked: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.asked.add(name)
        return super().get(name, default)

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.asked.add(str(name))
        return super().__contains__(name)


def asked_of(tag: str, given: dict[str, str]) -> set[str]:
    """The attributes of an element that a builder reads, with a link around it, one in it, and a style sheet before it."""
    builder = DocumentBuilder(1, max_links=9, max_text=9, agent="robot")
    builder.classes = frozenset(("k",))
    builder.listen(9)
    attributes = Recording(given)
    for outer in ("html", "body", "a"):
        builder.start(outer, {"href": "x"})
    builder.start(tag, attributes)
    builder.hidden.clear()
    builder.start("a", {"href": "y"})
    return attributes.asked


@pytest.mark.parametrize("tag", sorted({*OPENERS, "p", "input", "link", "div"}))
def test_each_attribute_that_is_read_is_named(tag: str) -> None:
    """If code reads another attribute, ``READ`` must name it."""
    whole = dict.fromkeys(READ_OF_ALL.union(*READ.values()), "k")
    asked = asked_of(tag, {}) | asked_of(tag, {**whole, "hidden": ""})
    for name in whole:
        asked |= asked_of(tag, {name: "k"})
    asked |= asked_of(tag, {"http-equiv": "refresh"}) | asked_of(tag, {"itemprop": "datepublished"})
    assert asked == READ_OF_ALL | READ.get(tag, frozenset())


def test_compiled_readers_ask_for_no_others() -> None:
    source = Path(parse.__file__).with_name("tree_walk.pyx").read_text()
    asked = set(re.findall(r'find\([\w.]+, "([\w:-]+)"\)', source))
    assert {"class", "id", "rel", "alt"} <= asked <= READ_OF_ALL.union(*READ.values())


@pytest.mark.realweb
@pytest.mark.parametrize("name", ["webkb", "github-pages", "realweb", "ebola-pages"])
def test_pages_of_real_webs(name: str, tmp_path: Path) -> None:
    path = shared_data(f"{name}/{name}.warc.gz")
    web = open_web(path, cache_dir=tmp_path)
    for number, url in enumerate(Random(4).sample(sorted(web.urls()), 150)):
        check(web.get(url).body, url=url, tag_paths=number % 2 == 0)
