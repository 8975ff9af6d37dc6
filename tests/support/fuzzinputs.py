"""Inputs for fuzzing: samples of each format, and the ways to corrupt them."""

from __future__ import annotations

import gzip
import json

from hypothesis import strategies as st


def spliced(samples: list[bytes], tokens: list[bytes]) -> st.SearchStrategy[bytes]:
    """Samples with pieces cut out, doubled, or overwritten by tokens or noise; and sequences of tokens alone."""
    piece = (
        st.sampled_from(tokens)
        | st.binary(max_size=8)
        | st.text(max_size=4).map(lambda text: text.encode("utf-8", "replace"))
    )
    edit = st.tuples(st.floats(0, 1), st.integers(0, 60), piece, st.integers(0, 3))

    def edited(sample: bytes, edits: list[tuple[float, int, bytes, int]]) -> bytes:
        for share, length, new, times in edits:
            at = int(share * len(sample))
            sample = sample[:at] + new * times + sample[at + (length if times != 3 else -length) :]
        return sample

    return (
        st.builds(edited, st.sampled_from(samples), st.lists(edit, max_size=12))
        | st.lists(piece, max_size=60).map(b"".join)
        | st.binary(max_size=300)
    )


_URL_PARTS = (
    "http://", "https://", "HTTP:", "//", "/", "\\", "..", ".", "?", "#", "@", ":", ":80", ":443", ":99999", "%", "%2F", "%2e",
    "%00", "%zz", "xn--", "é", "ß", "１２７", "127.0.0.1", "0x7f", "[::1]", "[", "]", "h.example", "localhost", "index.html",
    "PHPSESSID=1", ";jsessionid=1", "utm_source=x", "&", "=", "+", " ", "\t", "\n", "\0", "\u202e", "\ud800", "a" * 60, "*",
)  # fmt: skip
hrefs = st.lists(st.sampled_from(_URL_PARTS) | st.text(max_size=3), max_size=14).map("".join)

ROBOTS = spliced(
    [
        b"User-agent: *\nDisallow: /private\nAllow: /private/open\nCrawl-delay: 5\n\nUser-agent: topical\nDisallow: /*.gif$\n",
        b"\xef\xbb\xbfuser-agent:topical # x\r\nallow:/\rdisallow:/a%2Fb?c=%E3%83%84\nSitemap: http://h.example/s.xml\n",
    ],
    [
        b"User-agent:",
        b"Disallow:",
        b"Allow:",
        b"Sitemap:",
        b"Crawl-delay: 1e999",
        b"*",
        b"$",
        b"/",
        b"%",
        b"#",
        b"\n",
        b"\r",
        b" ",
    ],
)

HTML = spliced(
    [
        b'<!doctype html><html lang=en><head><meta charset=utf-8><title>Reef</title><base href="/x/"><meta name=robots '
        b'content="nofollow, unavailable_after: 1 Jan 2020"><script>location="/a"</script></head><body><p>coral <a href=y '
        b"rel=nofollow>reef <img alt=z></a><table><tr><td><a href='?q'>b</a></table><!-- c --></body></html>",
        b'<meta http-equiv=refresh content="0; url=/n"><style>.h{display:none}</style><div class=h hidden>x</div>&#0;&amp;'
        b"&#x110000;",
    ],
    [
        *(
            b"<a href=",
            b"</a>",
            b"<p>",
            b"</p>",
            b"<table>",
            b"<td>",
            b"<svg>",
            b"<math>",
            b"<title>",
            b"</title>",
            b"<script>",
        ),
        *(
            b"</script>",
            b"<style>",
            b"<!--",
            b"-->",
            b"<![CDATA[",
            b"]]>",
            b"<?x",
            b"&#",
            b"&",
            b'"',
            b"'",
            b"=",
            b">",
            b"\0",
        ),
        *(
            b"<base href=",
            b"<meta ",
            b"charset=utf-16",
            b"<frame src=",
            b"<noscript>",
            b"<template>",
            b"hidden",
            b"\xff\xfe",
        ),
    ],
)

SITEMAP = spliced(
    [
        b'<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://s"><url><loc>http://h.example/coral?a&amp;b</loc>'
        b"<lastmod>2024-01-01</lastmod></url><url><loc><![CDATA[http://h.example/x]]></loc></url></urlset>",
        b"<sitemapindex><sitemap><loc>http://h.example/s.xml.gz</loc></sitemap></sitemapindex>",
        b"<rss><channel><item><link>http://h.example/r</link></item></channel></rss>",
        gzip.compress(b"<urlset><url><loc>http://h.example/z</loc></url></urlset>", mtime=0),
    ],
    [
        b"<url>",
        b"</url>",
        b"<loc>",
        b"</loc>",
        b"<!DOCTYPE x [",
        b'<!ENTITY a "b">',
        b"&a;",
        b"]>",
        b"<!--",
        b"<?",
        b"\0",
        b"&",
    ],
)

TOPIC = spliced(
    [
        b'name = "reef"\nkeywords = ["coral reef"]\nseeds = ["http://h.example/"]\nlanguage = "en"\ntargets = []\n'
        b'[examples]\npositive = ["http://h.example/a"]\n[crawl]\nCRAWL_MAX_PAGES = 5\nORDERING = "dom"\n'
    ],
    [
        b"[",
        b"]",
        b"=",
        b'"',
        b"'''",
        b"\n",
        b"{",
        b"}",
        b"name",
        b"seeds",
        b"keywords",
        b"1e999",
        b"nan",
        b"-",
        b"\\u0000",
        b"..",
        b"/",
    ],
)

_RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(
    b"<p>reef", mtime=0
)
_RECORD = (
    b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://h.example/\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"
    b"WARC-Record-ID: <urn:uuid:1>\r\nContent-Type: application/http;msgtype=response\r\nContent-Length: %d\r\n\r\n"
    % len(_RESPONSE)
    + _RESPONSE
    + b"\r\n\r\n"
)
WARC = spliced(
    [_RECORD * 2, gzip.compress(_RECORD, mtime=0) * 2, _RECORD.replace(b"response\r\nWARC-T", b"revisit\r\nWARC-T")],
    [
        b"WARC/1.1\r\n",
        b"Content-Length: ",
        b"-1",
        b"99999999999",
        b"\r\n",
        b"\r\n\r\n",
        b"HTTP/1.1 ",
        b"\x1f\x8b",
        b"chunked",
        b":",
    ],
)

LINE = {
    "url": "http://h.example/",
    "status": 200,
    "at": 1.0,
    "md5": "a",
    "relevance": 0.5,
    "error": "",
    "redirect": "",
    "depth": 0,
}
HISTORY = spliced(
    [
        json.dumps(LINE).encode() + b"\n",
        b"".join(json.dumps({**LINE, "url": f"http://h.example/{n}"}).encode() + b"\n" for n in range(3)),
    ],
    [b"{", b"}", b"\n", b'"url":', b"null", b"1e999", b'"relevance":"x"', b"[]", b",", b"\0", b'"\\ud800"'],
)
