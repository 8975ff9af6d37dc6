"""Sitemap files: the URLs that they list, in every format, and the limits on their cost."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.parts.listings.sitemaps import MAX_ENTRIES, SitemapEntry, SitemapFile, read_sitemap

URLSET = """<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://images" xmlns:news="http://news">
<!-- <url><loc>http://h/commented</loc></url> -->
<url><loc> http://h/a?x=1&amp;y=2 </loc><lastmod>2024-01-02</lastmod>
  <image:image><image:loc>http://h/i.png</image:loc></image:image></url>
<url><loc><![CDATA[http://h/b]]></loc><news:news><news:publication><news:name>N</news:name></news:publication>
  <news:publication_date>2024-05-05T10:00:00Z</news:publication_date></news:news></url>
<url><loc>http://h/c&d=e</loc></url>
<url><lastmod>2024-01-02</lastmod></url>
</urlset>"""
PAGES = (
    SitemapEntry("http://h/a?x=1&y=2", "2024-01-02"),
    SitemapEntry("http://h/b", "2024-05-05T10:00:00Z"),
    SitemapEntry("http://h/c&d=e"),
)


@pytest.mark.parametrize(
    "body",
    [
        URLSET.encode(),
        b"\xef\xbb\xbf" + URLSET.encode(),
        gzip.compress(URLSET.encode()),
        gzip.compress(gzip.compress(URLSET.encode())),
        gzip.compress(b"") + gzip.compress(URLSET[:500].encode()) + gzip.compress(URLSET[500:].encode()) + b"\0\0",
        URLSET.encode().replace(b"\n", b"\r\n\t"),
    ],
)
def test_pages_with_the_day_of_their_last_change(body: bytes) -> None:
    assert read_sitemap(body) == SitemapFile(pages=PAGES)


def test_other_encodings() -> None:
    text = '<?xml version="1.0" encoding="{}"?><urlset><url><loc>http://h/é</loc></url></urlset>'
    for encoding in ("utf-16", "iso-8859-1"):
        assert read_sitemap(text.format(encoding).encode(encoding)).pages == (SitemapEntry("http://h/é"),)


def test_an_index_names_sitemaps() -> None:
    body = b"<sitemapindex><sitemap><loc>http://h/1.xml.gz</loc><lastmod>2020</lastmod></sitemap></sitemapindex>"
    assert read_sitemap(body) == SitemapFile(sitemaps=(SitemapEntry("http://h/1.xml.gz", "2020"),))


def test_the_url_of_a_page_is_not_that_of_its_translation() -> None:
    link = '<xhtml:link rel="alternate" hreflang="de" href="http://h/de/"/>'
    for entry in (f"{link}<loc>http://h/</loc>", f"<loc>http://h/</loc>{link}", f"<loc/>{link}<loc>http://h/</loc>"):
        body = f'<urlset xmlns:xhtml="http://www.w3.org/1999/xhtml"><url>{entry}</url></urlset>'
        assert read_sitemap(body.encode()).pages == (SitemapEntry("http://h/"),)


def test_feeds_and_text() -> None:
    rss = b"<rss><channel><link>http://h/</link><item><title>t</title><link>http://h/r</link><pubDate>1 Jan</pubDate></item>"
    atom = (
        b'<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://h/"/><entry><link rel="edit" href="http://h/e"/>'
        b'<link href="http://h/at"/><updated>2023-01-01</updated></entry></feed>'
    )
    assert read_sitemap(rss).pages == (SitemapEntry("http://h/r", "1 Jan"),)
    assert read_sitemap(atom).pages == (SitemapEntry("http://h/at", "2023-01-01"),)
    assert read_sitemap(b"\xef\xbb\xbfhttp://h/1\r\nhttps://h/2\nftp://h/3\n\n").pages == (
        SitemapEntry("http://h/1"),
        SitemapEntry("https://h/2"),
    )


@pytest.mark.parametrize("body", [URLSET.encode()[:-150], gzip.compress(URLSET.encode(), mtime=0)[:-20]])
def test_what_stood_before_the_damage_counts(body: bytes) -> None:
    found = read_sitemap(body).pages
    assert found and found == PAGES[: len(found)]


@pytest.mark.parametrize("fault", ["<loc>http://h/&#xD800;</loc>", '<a b="&#xD800;"/>'])
def test_what_stood_before_a_surrogate_counts(fault: str) -> None:
    body = URLSET.replace("<url><lastmod>", f"<url>{fault}</url><url><lastmod>")
    assert read_sitemap(body.encode()).pages == PAGES


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_no_entity_is_resolved_and_nothing_fetched(encoding: str) -> None:
    levels = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    for declared in (
        '<!ENTITY a11 SYSTEM "file:///etc/passwd">',
        f'<!ENTITY a0 "x">{levels}',
        '<!ENTITY % p SYSTEM "http://h/">%p;',
    ):
        text = f"<!DOCTYPE urlset [{declared}]><urlset><url><loc>http://h/&a11;</loc></url></urlset>"
        assert read_sitemap(text.encode(encoding)) == SitemapFile()
    assert read_sitemap(b"<urlset><url><loc>http://h/&undeclared;x</loc></url></urlset>").pages in (
        (),
        (SitemapEntry("http://h/x"),),
    )


def test_entries_have_a_limit() -> None:
    body = b"<urlset>" + b"".join(b"<url><loc>http://h/%d</loc></url>" % n for n in range(MAX_ENTRIES + 50))
    assert len(read_sitemap(body).pages) == MAX_ENTRIES
    assert len(read_sitemap(b"http://h/\n" * 20, max_entries=5).pages) == 5


@pytest.mark.parametrize(
    "made",  # when it is read: each process would make all of them
    [
        lambda: gzip.compress(b"<urlset>" + b" " * 100_000_000),
        lambda: gzip.compress(gzip.compress(bytes(50_000_000))),
        lambda: b"<urlset>" + b"<a>" * 1_000_000,
        lambda: b"<urlset>" + b"</a>" * 1_000_000,
        lambda: b"<urlset>" + b"<url/>" * 1_000_000,
        lambda: b"<urlset><url><loc>" + b"x" * 5_000_000,
        lambda: b"<urlset " + b"".join(b'a%d="x" ' % n for n in range(300_000)) + b">",
        lambda: b"<urlset>" + b"&" * 3_000_000,
        lambda: b"\x1f\x8b" + bytes(1000),
        lambda: gzip.compress(b"") * 200_000 + gzip.compress(URLSET.encode()),
        lambda: zlib.compress(URLSET.encode()),
    ],
    ids=range(11),
)
def test_bombs_are_read_to_a_limit(made: Callable[[], bytes]) -> None:
    assert read_sitemap(made()) == SitemapFile()


urls = st.from_regex(r"http://h/[a-z0-9&;=?%]{1,20}", fullmatch=True)


@given(st.lists(st.tuples(urls, st.sampled_from(["", "2024-01-01"])), max_size=30))
def test_what_is_written_is_read(entries: list[tuple[str, str]]) -> None:
    from xml.sax.saxutils import escape

    days = [f"<lastmod>{day}</lastmod>" if day else "" for _, day in entries]
    items = [f"<url><loc>{escape(url)}</loc>{day}</url>" for (url, _), day in zip(entries, days, strict=True)]
    assert read_sitemap(f"<urlset>{''.join(items)}</urlset>".encode()).pages == tuple(
        SitemapEntry(*entry) for entry in entries
    )
