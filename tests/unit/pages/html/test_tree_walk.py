"""The two readers of pages, a compiled tree walk and events in Python, give the same document."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.archives import shared_data
from support.havoc import mutated

from crawlproject.pages.html import parse
from crawlproject.pages.html.document import Document
from crawlproject.pages.html.parse import parse_document
from crawlproject.webs.open import open_web
from crawlproject.webs.sample import SampleWeb

tree_walk = pytest.importorskip("crawlproject.pages.html.tree_walk", reason="not compiled")

# fmt: off
SOUP = [
    b"<html lang=en>", b"</html>", b"<head>", b"</head>", b"<body>", b"</body>", b"<title>", b"</title>",
    b"<base href=b>", b"<p>", b"</p>", b"<div>", b"</div>", b"<br>", b"</br>", b"<table>", b"<td>", b"<li>",
    b"<b hidden>", b"</b>", b"<div class=h>", b"<style>.h{display:none}</style>",
    b"<span style='display:none' id=a7 class='y x'>", b"</span>", b"<a href=x>", b"</a>",
    b"<a href=y rel='x nofollow'>", b"<a>", b"<area href=q alt=z>", b"<img alt=i>", b"<frameset>", b"<frame src=f>",
    b"<noframes>", b"<script>", b"<script>location='/n'</script>", b"</script>", b"<noscript>", b"</noscript>",
    b"<template>", b"</template>", b"<iframe>", b"<svg>", b"<textarea>", b"<plaintext>", b"<select>", b"<option>",
    b"<form>", b"<time datetime=2020-01-02>", b"<meta name=robots content=noindex>",
    b"<meta property=article:published_time content=2020-01-01>", b"<meta http-equiv=refresh content='0; url=/n'>",
    b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?pi", b"<!bogus", b"&", b"&lt;", b"&#0;", b"\x00", b"\r", b"\n", b" ",
    b"word", b"\xc3\xa9", b"\xc2\xa0", b"\xe2\x80\x83", b"<img alt=' '>", b"<img alt=' \xc3\xa9 '>",
    b"<script> \nlocation='/n'</script>", b"<h hidden", b"<a:b xml:lang=fr href=p>", b"/>", b"<", b">", b"'", b"\"",
]
# fmt: on
DEEP = b"<div>" * 260 + b"<a href=x>y</a>" + b"</div>" * 260 + b"end"
HOSTILE = [
    b"",
    b" ",
    b"<!-- c -->",
    b"<!bogus>\n<p>text",
    b"<html>one</html>\n\n<p>two <a href=x>y</a>\n",
    b"x</html>\n",
    DEEP,
    b"<div>" * 240 + b"</p></b>" * 1_000 + b"<a href=x>y",
    b"<b><i>" * 40_000 + b"</p></b>" * 40_000,
    b"<p " + b" ".join(b"a%d=1" % number for number in range(20_000)) + b">text",
    b"<p>word <a href=x>y</a> " * 50_000,
    b"<a href='" + b"x" * 1_200_000 + b"'>y",
    b"\xff\xfe<\xd8\x00",
]


def from_events(body: bytes, **options: Any) -> Document:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parse, "tree_walk", None)
        return parse_document(body, **options)


def sample_pages(number: int) -> list[tuple[str, bytes]]:
    web = SampleWeb()
    return [(url, web.get(url).body) for url in Random(1).sample(sorted(web.urls()), number)]


def test_pages_of_the_sample_web() -> None:
    for url, body in sample_pages(300):
        assert parse_document(body, url=url) == from_events(body, url=url), url


def test_an_ordinary_page_is_read_from_its_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(parse, "_read_events")
    assert all(parse_document(body, url=url).text for url, body in sample_pages(20))


@pytest.mark.parametrize("body", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_pages(body: bytes) -> None:
    assert parse_document(body) == from_events(body)


def test_any_bytes() -> None:
    random = Random(2)
    pages = [body[start : start + 3_000] for _, body in sample_pages(50) for start in (0, 1_000)]
    for number in range(4_000):
        soup = b"".join(random.choices(SOUP, k=random.randrange(40)))
        body = (soup, mutated(soup, SOUP, random), mutated(random.choice(pages), [*pages, soup], random))[number % 3]
        options: dict[str, Any] = {
            "content_type": random.choice(["", "text/html; charset=utf-8"]),
            "aggregation_level": random.choice([0, 1, 2, 10**30, "root"]),
            "max_links": random.choice([2, 5_000]),
            "max_text": random.choice([20, 10**6]),
            "max_depth": random.choice([5, 250, 512]),
            "tag_paths": random.random() < 0.8,
            "agent": random.choice(["", "robots"]),
        }
        assert parse_document(body, **options) == from_events(body, **options), (body, options)


MANY = [f'a{number}=">"' for number in range(300)]


@pytest.mark.parametrize(
    ("markup", "crowded"),
    [
        (f"<p {' '.join(MANY)}>", True),
        (f"<p {'/'.join(MANY)}>", True),
        (f"<p {''.join(MANY)}>", True),
        (f"<p {' = '.join(MANY)}", True),
        (f"<script>a<b='</script><p {' '.join(MANY)}>", True),
        (f'<i title="<p {" ".join(MANY).replace(chr(34), chr(39))}>">', True),
        (f"<p {' '.join(MANY[:200])}>" * 3, False),
        (f"<p title='{' '.join(MANY)}'>", False),
        (f"<p>{' '.join(MANY)}", False),
        ("<p>text</p>" * 1_000, False),
        ("", False),
        ("<", False),
        ("<p a=", False),
        ("<p a='", False),
        ("<a" * 10_000, True),  # which takes too long to find out
    ],
)
def test_elements_with_many_attributes_are_found(markup: str, crowded: bool) -> None:
    assert tree_walk.is_crowded(markup.encode()) is crowded


@pytest.mark.realweb
@pytest.mark.parametrize("name", ["webkb", "github-pages", "realweb", "ebola-pages"])
def test_pages_of_real_webs(name: str, tmp_path: Path) -> None:
    path = shared_data(f"{name}/{name}.warc.gz")
    web = open_web(path, cache_dir=tmp_path)
    for url in Random(3).sample(sorted(web.urls()), 150):
        body = web.get(url).body
        assert parse_document(body, url=url) == from_events(body, url=url), url
