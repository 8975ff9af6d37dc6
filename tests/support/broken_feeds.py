"""Fifty feeds with the faults of real feeds, each with the entries that a person would find in it.

They are hand-made: PHP warnings before the declaration, UTF-8 that .NET declares
as UTF-16, entities of HTML, undeclared prefixes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import orjson

AT = 1_727_960_400.0  # 2024-10-03 13:00 UTC, in seconds since the epoch
RFC = "Thu, 03 Oct 2024 13:00:00 GMT"
ISO = "2024-10-03T13:00:00Z"
Read = tuple[str, str, float]  # URL as written, title, date in seconds since the epoch (0: none)


class BrokenFeed(NamedTuple):
    fault: str
    body: bytes
    entries: Sequence[Read]


def _item(path: str, title: str, date: str = RFC, more: str = "") -> str:
    return f"<item><title>{title}</title><link>http://h/{path}</link>{more}<pubDate>{date}</pubDate></item>\n"


def _rss(*items: str, declared: str = '<?xml version="1.0" encoding="utf-8"?>\n', channel: str = "") -> str:
    return (
        f'{declared}<rss version="2.0"><channel><title>Reefs</title><link>http://h/</link>{channel}\n'
        f"{''.join(items)}</channel></rss>\n"
    )


def _declared(encoding: str) -> str:
    return f'<?xml version="1.0" encoding="{encoding}"?>\n'


def _atom(*entries: str, attributes: str = 'xmlns="http://www.w3.org/2005/Atom"') -> str:
    return f'<?xml version="1.0"?>\n<feed {attributes}><title>Reefs</title><link href="http://h/"/>{"".join(entries)}</feed>'


def _entry(path: str, title: str, more: str = "") -> str:
    return f'<entry><title>{title}</title>{more}<link href="http://h/{path}"/><id>tag:h,2024:{path}</id><updated>{ISO}</updated></entry>'


def _two(one: str = "One", two: str = "Two") -> list[Read]:
    return [("http://h/a", one, AT), ("http://h/b", two, AT)]


_A, _B = _item("a", "One"), _item("b", "Two")
_PLAIN = _rss(_A, _B)
_QUOTES = "“One” – d’été"
_DATES = [
    "Thu, 3 Oct 2024 13:00:00 +0000",
    "Thurs, 03 October 2024 13:00:00 GMT",
    "2024-10-03 13:00:00",
    "2024-10-03T13:00:00+0000",
    "3 Oct 2024 13:00",
    "Thu, 03 Oct 2024 08:00:00 EST",
    "Thu Oct  3 13:00:00 2024",
]
_DEEP = "<div>" * 30 + "text" + "</div>" * 30
_RDF = """<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="{space}" {more}>
<channel><title>Reefs</title><link>http://h/</link></channel>{items}</rdf:RDF>"""
_HTML_ENTITIES = (
    '<!DOCTYPE rss [<!ENTITY nbsp "&#160;"><!ENTITY eacute "&#233;">\n<!ENTITY % more SYSTEM "http://h/more.ent">]>\n'
)
_JSON = {
    "version": "https://jsonfeed.org/version/1.1",
    "items": [
        {"id": "http://h/a", "title": "One", "date_published": ISO},
        {"id": "2", "url": "http://h/b", "title": "Two", "date_published": ISO},
    ],
}

ENCODINGS = [
    BrokenFeed("windows-1252 declared as UTF-8", _rss(_item("a", _QUOTES), _B).encode("cp1252"), _two(_QUOTES)),
    BrokenFeed(
        "Latin-1, nothing declared", _rss(_item("a", "Récifs"), _B, declared="").encode("latin-1"), _two("Récifs")
    ),
    BrokenFeed(
        "windows-1251", _rss(_item("a", "Рифы"), _B, declared=_declared("windows-1251")).encode("cp1251"), _two("Рифы")
    ),
    BrokenFeed(
        "Shift_JIS", _rss(_item("a", "サンゴ"), _B, declared=_declared("Shift_JIS")).encode("shift_jis"), _two("サンゴ")
    ),
    BrokenFeed(
        "UTF-8 declared as UTF-16",
        _rss(_item("a", "Récifs"), _B, declared=_declared("utf-16")).encode(),
        _two("Récifs"),
    ),
    BrokenFeed(
        "UTF-16 with BOM", _rss(_item("a", "Récifs"), _B, declared=_declared("utf-16")).encode("utf-16"), _two("Récifs")
    ),
    BrokenFeed(
        "UTF-16 without BOM, declared as UTF-8", _rss(_item("a", "Récifs"), _B).encode("utf-16-le"), _two("Récifs")
    ),
    BrokenFeed(
        "an encoding that nobody knows",
        _rss(_item("a", "Récifs"), _B, declared=_declared("utf8mb4")).encode(),
        _two("Récifs"),
    ),
    BrokenFeed(
        "one line is Latin-1",
        _rss(_item("a", "Récifs")).encode().replace(b"</channel>", _item("b", "Été").encode("latin-1") + b"</channel>"),
        _two("Récifs", "Été"),
    ),
    BrokenFeed("BOM twice", b"\xef\xbb\xbf\xef\xbb\xbf" + _PLAIN.encode(), _two()),
]
AROUND = [
    BrokenFeed("white space first", ("\r\n\n  " + _PLAIN).encode(), _two()),
    BrokenFeed("BOM, then white space", b"\xef\xbb\xbf\n" + _PLAIN.encode(), _two()),
    BrokenFeed("a comment first", ("<!-- cached -->\n" + _PLAIN).encode(), _two()),
    BrokenFeed(
        "a warning of PHP first",
        ("<br />\n<b>Warning</b>:  mysql() in <b>/x.php</b> on line <b>3</b><br />\n" + _PLAIN).encode(),
        _two(),
    ),
    BrokenFeed(
        "a notice in plain text first", ("Notice: Undefined index: x in /x.php on line 3\n" + _PLAIN).encode(), _two()
    ),
    BrokenFeed("a script behind it", (_PLAIN + '<script src="/track.js"></script><!-- 0.2 s -->').encode(), _two()),
    BrokenFeed(
        "cut in the third item", _rss(_A, _B, _item("c", "Three")).partition("<title>Three")[0].encode(), _two()
    ),
    BrokenFeed("the declaration twice", (_declared("utf-8") + _PLAIN).encode(), _two()),
    BrokenFeed(
        "DOCTYPE of RSS 0.91",
        _PLAIN.replace(
            '<rss version="2.0">',
            '<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://h/rss-0.91.dtd">\n<rss version="0.91">',
        ).encode(),
        _two(),
    ),
    BrokenFeed(
        "DOCTYPE with entities",
        _rss(_item("a", "Caf&eacute;&nbsp;One"), _B, declared=_declared("utf-8") + _HTML_ENTITIES).encode(),
        _two("Café One"),
    ),
    BrokenFeed("two hyphens in a comment", _rss(_A, "<!-- a -- b --->", _B).encode(), _two()),
]
TEXTS = [
    BrokenFeed(
        "bare ampersands",
        _rss(_item("a?x=1&y=2", "Q & A"), _item("b", "R&D")).encode(),
        [("http://h/a?x=1&y=2", "Q & A", AT), ("http://h/b", "R&D", AT)],
    ),
    BrokenFeed(
        "an entity of HTML without its semicolon in a URL",
        _rss(_item("a?x=1&copy=2", "One"), _B).encode(),
        [("http://h/a?x=1&copy=2", "One", AT), ("http://h/b", "Two", AT)],
    ),
    BrokenFeed(
        "entities of HTML", _rss(_item("a", "Caf&eacute; &mdash; One&hellip;"), _B).encode(), _two("Café — One…")
    ),
    BrokenFeed("an entity that nobody knows", _rss(_item("a", "One &foo; two"), _B).encode(), _two("One &foo; two")),
    BrokenFeed("escaped twice", _rss(_item("a", "Q &amp;amp; A &amp;eacute;"), _B).encode(), _two("Q & A é")),
    BrokenFeed(
        "HTML in a title", _rss(_item("a", "On <i>Porites</i><br/> corals"), _B).encode(), _two("On Porites corals")
    ),
    BrokenFeed(
        "HTML in CDATA in a title", _rss(_item("a", "<![CDATA[On <i>Porites</i>]]>"), _B).encode(), _two("On Porites")
    ),
    BrokenFeed(
        "tags of HTML that are not closed",
        _rss(_item("a", "One", more="<description>x<br>y<p>z<img src=x></description>"), _B).encode(),
        _two(),
    ),
    BrokenFeed("a bare less-than", _rss(_item("a", "2 < 3"), _B).encode(), _two("2 < 3")),
    BrokenFeed("control characters", _rss(_item("a", "O\x0bne\x1f"), _item("b", "T\x00wo")).encode(), _two()),
    BrokenFeed(
        "references to control characters", _rss(_item("a", "One&#11;"), _item("b", "Two&#x0;&#31;")).encode(), _two()
    ),
    BrokenFeed(
        "CDATA that is not ended, in the last item",
        _rss(_A, _item("b", "Two", more="<description><![CDATA[x</description>")).encode(),
        _two()[:1],
    ),
    BrokenFeed(
        "CDATA in CDATA",
        _rss(_item("a", "One", more="<description><![CDATA[x <![CDATA[y]]> z]]></description>"), _B).encode(),
        _two(),
    ),
    BrokenFeed(
        "line breaks around a URL", _rss(_A.replace("http://h/a", "\n  <![CDATA[http://h/a]]>\n "), _B).encode(), _two()
    ),
    BrokenFeed("deep XHTML", _rss(_item("a", "One", more=f"<description>{_DEEP}</description>"), _B).encode(), _two()),
]
MARKUP = [
    BrokenFeed(
        "prefixes that nobody declared",
        _rss(
            _item(
                "a",
                "One",
                more="<dc:creator>x</dc:creator><content:encoded>y</content:encoded><media:thumbnail url='z'/>",
            ),
            _B,
        ).encode(),
        _two(),
    ),
    BrokenFeed(
        "upper case",
        _PLAIN.replace("item>", "ITEM>")
        .replace("link>", "LINK>")
        .replace("title>", "TITLE>")
        .replace("pubDate>", "PUBDATE>")
        .encode(),
        _two(),
    ),
    BrokenFeed(
        "attributes without quotes",
        _rss(
            f"<item><title>One</title><guid isPermaLink=true>http://h/a</guid><pubDate>{RFC}</pubDate></item>", _B
        ).encode(),
        _two(),
    ),
    BrokenFeed("an item that is not closed", _rss(_A.replace("</item>", ""), _B).encode(), _two()),
    BrokenFeed(
        "a closing tag that is misspelt",
        _rss(_A.replace("</title>", "</titel>"), _B).encode(),
        [("http://h/a", "One", AT), ("http://h/b", "Two", AT)],
    ),
    BrokenFeed("no root", f"<channel><title>Reefs</title>{_A}{_B}</channel>".encode(), _two()),
    BrokenFeed(
        "a title of another vocabulary first",
        _rss(
            _item("a", "One").replace(
                "<item>", '<item xmlns:media="http://search.yahoo.com/mrss/"><media:title>Picture</media:title>'
            ),
            _B,
        ).encode(),
        _two(),
    ),
]
FORMATS = [
    BrokenFeed(
        "RSS 0.90, no dates",
        _RDF.format(
            space="http://my.netscape.com/rdf/simple/0.9/",
            more="",
            items="<item><title>One</title><link>http://h/a</link></item>",
        ).encode(),
        [("http://h/a", "One", 0.0)],
    ),
    BrokenFeed(
        "RSS 1.0, dates without their namespace",
        _RDF.format(
            space="http://purl.org/rss/1.0/",
            more="",
            items=f'<item rdf:about="http://h/a"><title>One</title><link>http://h/a</link><dc:date>{ISO}</dc:date></item>',
        ).encode(),
        [("http://h/a", "One", AT)],
    ),
    BrokenFeed(
        "Atom 0.3",
        _atom(
            f'<entry><title mode="escaped">One</title><link rel="alternate" type="text/html" href="http://h/a"/><issued>{ISO}</issued><modified>{ISO}</modified></entry>',
            attributes='version="0.3" xmlns="http://purl.org/atom/ns#"',
        ).encode(),
        [("http://h/a", "One", AT)],
    ),
    BrokenFeed(
        "Atom without a namespace, titles of XHTML",
        _atom(_entry("a", "<div>On <i>Porites</i></div>"), _entry("b", "Two"), attributes="").encode(),
        _two("On Porites"),
    ),
    BrokenFeed(
        "Atom with the feed that an entry is from",
        _atom(
            _entry(
                "a",
                "One",
                '<source><title>Other</title><link href="http://other/"/><updated>2001-01-01T00:00:00Z</updated></source>',
            ),
            _entry("b", "Two"),
        ).encode(),
        _two(),
    ),
    BrokenFeed("JSON Feed with BOM, an id that is the URL", b"\xef\xbb\xbf" + orjson.dumps(_JSON), _two()),
]
DATES = [
    BrokenFeed(
        "dates of seven kinds",
        _rss(*(_item(str(n), "x", date) for n, date in enumerate(_DATES))).encode(),
        [(f"http://h/{n}", "x", AT) for n in range(len(_DATES))],
    )
]
BROKEN_FEEDS = [*ENCODINGS, *AROUND, *TEXTS, *MARKUP, *FORMATS, *DATES]
