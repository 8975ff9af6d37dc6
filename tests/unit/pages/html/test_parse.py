from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.pages.html import parse
from crawlproject.pages.html.document import Document
from crawlproject.pages.html.head import MetaRobots
from crawlproject.pages.html.parse import parse_document

SOUP = (
    *("<a href=x>", "</a>", "<p>", "</p>", "<table>", "<td>", "<title>", "</title>", "<script>", "</script>"),
    *["<b>", "</b>", "<li>", "<body>", "</body>", "</html>", "<frameset>", "<head>", "<template>", "</template>"],
    "<frame src=f>",
    *("<img alt=i>", "<area href=q>", "<base href=b>", "<!--", "-->", "&", "&lt;", "\0", "é", "<svg>", "<textarea>"),
    *("<plaintext>", "<select>", "<option>", "<form>"),
)


def read(markup: str, **options: Any) -> Document:
    return parse_document(markup.encode(), **options)


def words(markup: str) -> list[str]:
    return read(markup).text.split()


def anchors(document: Document) -> list[str]:
    return [" ".join(document.text[slice(*link.anchor)].split()) for link in document.links]


class TestText:
    def test_what_no_reader_sees_is_left_out(self) -> None:
        hidden = "<script>a<b</script><style>b</style><noscript>c</noscript><template><p>d</template><!-- e --><?f g?>"
        markup = f"<head><title>t</title>{hidden}</head><body>seen {hidden} too<iframe>h</iframe>"
        assert words(markup) == ["seen", "too"]

    def test_inline_elements_do_not_break_words_and_block_elements_do(self) -> None:
        assert words("<p>cr<b>aw</b>l<i></i>er<custom-tag>s</custom-tag></p>") == ["crawlers"]
        assert words("<div>one</div><div>two</div>three<br>four<table><tr><td>five<td>six</table>") == [
            *("one", "two", "three", "four", "five", "six")
        ]

    def test_entities_are_characters_and_bad_ones_do_no_harm(self) -> None:
        assert words("caf&eacute;&amp;bar &#0; &#xD800; &bogus; &#x1F600;")[0] == "café&bar"

    def test_title_is_folded_and_the_first_counts(self) -> None:
        assert read("<title> The\n  <b>title </title><svg><title>other</title></svg>").title == "The <b>title"

    @pytest.mark.parametrize(
        ("markup", "language"),
        [
            ('<html lang="en-US">', "en"),
            ('<html xml:lang="FR">', "fr"),
            ("<html lang=zh_Hant>", "zh"),
            ("<html lang=haw>", ""),
            ("<html lang='\u0661\u0662'>", ""),
            ("<p lang=de>", ""),
        ],
    )
    def test_language_is_two_letters_or_nothing(self, markup: str, language: str) -> None:
        assert read(markup).language == language

    def test_plain_text_is_taken_as_it_is(self) -> None:
        document = read("if a <b> then\n <a href=x>", content_type="text/plain; charset=utf-8")
        assert document.text.split() == ["if", "a", "<b>", "then", "<a", "href=x>"]
        assert document.links == ()

    def test_declared_encodings_survive_the_tidying(self) -> None:
        body = '<meta charset="koi8-r"><title>Привет</title><p>мир'.encode("koi8-r")
        document = parse_document(body)
        assert (document.title, document.text.split(), document.encoding) == ("Привет", ["мир"], "koi8-r")

    def test_xhtml_with_a_declaration_and_another_encoding_is_read(self) -> None:
        body = (
            b'<?xml version="1.0" encoding="iso-8859-1"?><html xmlns="http://www.w3.org/1999/xhtml">\xe9<br/>x</html>'
        )
        assert parse_document(body).text.split() == ["é", "x"]


class TestLinks:
    def test_links_are_a_area_and_frame_in_document_order(self) -> None:
        markup = '<a href="1">x</a><a name="no">y</a><map><area href="2"></map><iframe src=no></iframe><a href="">z</a>'
        assert [link.href for link in read(markup).links] == ["1", "2", ""]
        assert [link.href for link in read("<frameset><frame src=3><frame></frameset>").links] == ["3"]

    def test_links_that_no_reader_sees_are_none(self) -> None:
        assert read("<template><a href=1>x</a></template><noscript><a href=2>y</a></noscript>").links == ()

    def test_the_anchor_is_the_text_and_else_the_alt_of_the_image(self) -> None:
        markup = (
            '<a href=1>the <b>text</b><img alt="no"></a><a href=2> <img alt="a picture"> <img alt="of us"></a>'
            '<img alt="outside"><a href=3><img></a><map><area href=4 alt="a region"></map>'
        )
        assert anchors(read(markup)) == ["the text", "a picture of us", "", "a region"]

    def test_rel_nofollow_is_seen_among_other_values(self) -> None:
        markup = '<a href=1 rel="noopener NoFollow">x</a><a href=2 rel=nofollowing>y</a><a href=3>z</a>'
        assert [link.nofollow for link in read(markup).links] == [True, False, False]

    def test_unclosed_links_are_tidied(self) -> None:
        assert anchors(read("<p><a href=1>one<a href=2>two</p>three")) == ["one", "two"]

    @pytest.mark.parametrize(
        ("base", "expected"),
        [
            ("", "http://a.org/x/y.html"),
            ('<base href=" /z/ "><base href="/w/">', "http://a.org/z/"),
            ('<base href="http://b.org/">', "http://b.org/"),
            ('<base href="http://[bad">', "http://a.org/x/y.html"),
            ('<base href="javascript:void(0)">', "http://a.org/x/y.html"),
            ('<base href="http://b.org:99999/">', "http://a.org/x/y.html"),
            ('<base href="http:\\\\b.org\\z\\">', "http://b.org/z/"),
        ],
    )
    def test_base_is_absolute(self, base: str, expected: str) -> None:
        assert read(f"<head>{base}</head>", url="http://a.org/x/y.html").base == expected

    def test_meta_robots_adds_up(self) -> None:
        document = read("<meta name=Robots content=NOINDEX><meta name=robots content=nofollow><meta name=robots>")
        assert (document.robots.noindex, document.robots.nofollow) == (True, True)
        assert not read("<meta name=description content=noindex>").robots.noindex

    def test_meta_may_address_this_robot(self) -> None:
        markup = b"<meta name=Topical-Crawler content=noindex><meta name=otherbot content=nofollow>"
        assert parse_document(markup, agent="topical-crawler").robots == MetaRobots(noindex=True)
        assert parse_document(markup).robots == MetaRobots()


class TestHostile:
    @pytest.mark.parametrize("tag", ["div", "b", "span", "ul><li", "table><tr><td", "svg><g", "x-y"])
    def test_deep_nesting_is_read_to_the_cap(self, tag: str) -> None:
        document = read(f"<{tag}>word " * 100_000)
        assert document.truncated
        assert 100 < len(document.text.split()) <= 512

    def test_nothing_is_parsed_beyond_the_cap(self, monkeypatch: pytest.MonkeyPatch) -> None:
        fed: list[int] = []

        class Counting(parse.etree.HTMLParser):
            def feed(self, data: bytes) -> None:
                fed.append(len(data))
                super().feed(data)

        monkeypatch.setattr(parse.etree, "HTMLParser", Counting)
        assert read("<b><i>" * 40_000 + "</p></b>" * 40_000).truncated
        assert len(fed) == 1  # each end tag behind it would cost libxml2 time proportional to 80,000 open elements

    def test_depth_within_the_cap_is_read_whole(self) -> None:
        document = read("<div>" * 400 + "<a href=x>y</a>" + "</div>" * 400 + "end")
        assert document.text.split() == ["y", "end"]
        assert not document.truncated

    def test_links_beyond_the_cap_are_counted(self) -> None:
        document = read("<p>" + "<a href=x>y</a> " * 50_000)
        assert (len(document.links), document.links_dropped) == (5_000, 45_000)
        assert anchors(document) == ["y"] * 5_000

    def test_text_beyond_the_cap_is_cut_and_ranges_stay_inside(self) -> None:
        document = read("<p>" + "word <a href=x>link</a> " * 100, max_text=50)
        assert document.truncated
        assert len(document.text) == 50
        assert all(0 <= start <= end <= 50 for link in document.links for start, end in (link.anchor, link.context))

    def test_many_attributes_are_no_trouble(self) -> None:
        attributes = " ".join(f"a{number}=1" for number in range(100_000))
        assert read(f"<p {attributes}>text").text.split() == ["text"]

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"\0",
            b"\0" * 1000,
            b"<",
            b"<!",
            b"<a href",
            b"<html><html>",
            b"</p></p>",
            b"<!DOCTYPE html [<!ENTITY a 'b'>]>&a;",
            b"\xff\xfe<\xd8\x00",
            b"<a href='" + b"x" * 1_000_000,
        ],
    )
    def test_malformed_bodies_give_a_document(self, body: bytes) -> None:
        parse_document(body)

    def test_null_bytes_are_dropped_from_text(self) -> None:
        assert parse_document(b"<p>cr\0awl\0</p>" + b"\0" * 100_000).text.split() == ["crawl"]

    def test_external_entities_are_not_read(self) -> None:
        markup = '<!DOCTYPE html [<!ENTITY secret SYSTEM "file:///etc/passwd">]><p>&secret;</p>'
        assert "root:" not in read(markup).text

    @given(st.lists(st.one_of(st.sampled_from(SOUP), st.text(max_size=8)), max_size=40))
    def test_any_soup_gives_ranges_inside_the_text_and_anchors_inside_contexts(self, soup: list[str]) -> None:
        document = parse_document("".join(soup).encode("utf-8", "replace"))
        for link in document.links:
            assert 0 <= link.context[0] <= link.anchor[0] <= link.anchor[1] <= link.context[1] <= len(document.text)


@pytest.mark.parametrize(
    ("content", "hrefs"),
    [
        ("0; url=/next", ["/next"]),
        ("5;URL='http://b.example/x'", ["http://b.example/x"]),
        ('3 , "/quoted"', ["/quoted"]),
        ("30", []),
        ("soon; url=/x", []),
        ("0; url=", []),
    ],
)
def test_a_refresh_that_leads_elsewhere_is_a_link(content: str, hrefs: list[str]) -> None:
    value = content.replace('"', "&quot;")
    document = parse_document(f'<head><meta http-equiv="Refresh" content="{value}"></head><p>text'.encode())
    assert [link.href for link in document.links] == hrefs
