"""One spelling per resource: the seven rules of paper 000 section 2.4, then what browsers and RFC 3986 add."""

from __future__ import annotations

import pytest

from crawlproject.errors import InvalidUrl
from crawlproject.urls.canonical import Canonicalizer, canonical_url
from crawlproject.urls.resolve import MAX_LENGTH


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        # 1. Protocol and host name in lower case.
        ("HTTP://www.UIOWA.edu", "http://www.uiowa.edu/"),
        # 2. No fragment.
        ("http://myspiders.biz.uiowa.edu/faq.html#what", "http://myspiders.biz.uiowa.edu/faq.html"),
        # 3. One encoding of common characters.
        ("http://dollar.biz.uiowa.edu/%7Epant/", "http://dollar.biz.uiowa.edu/~pant/"),
        ("http://dollar.biz.uiowa.edu/~pant/", "http://dollar.biz.uiowa.edu/~pant/"),
        # 4. A trailing slash where it surely belongs.
        ("http://dollar.biz.uiowa.edu", "http://dollar.biz.uiowa.edu/"),
        # 5. No names of default pages.
        ("http://dollar.biz.uiowa.edu/~pant/index.html", "http://dollar.biz.uiowa.edu/~pant/"),
        ("http://dollar.biz.uiowa.edu/index.htm", "http://dollar.biz.uiowa.edu/"),
        # 6. No dot segments.
        (
            "http://dollar.biz.uiowa.edu/%7Epant/BizIntel/Seeds/../ODPSeeds.dat",
            "http://dollar.biz.uiowa.edu/~pant/BizIntel/ODPSeeds.dat",
        ),
        ("http://dollar.biz.uiowa.edu/a/./b", "http://dollar.biz.uiowa.edu/a/b"),
        # 7. No default port.
        ("http://www.uiowa.edu:80/", "http://www.uiowa.edu/"),
        ("https://www.uiowa.edu:443/", "https://www.uiowa.edu/"),
        ("http://www.uiowa.edu:8080/", "http://www.uiowa.edu:8080/"),
        ("http://www.uiowa.edu:443/", "http://www.uiowa.edu:443/"),
    ],
)
def test_the_seven_rules_of_the_paper(url: str, canonical: str) -> None:
    assert canonical_url(url) == canonical


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("http://bücher.example/straße?q=ü", "http://xn--bcher-kva.example/stra%C3%9Fe?q=%C3%BC"),
        ("http://例え.テスト/", "http://xn--r8jz45g.xn--zckzah/"),
        ("http://EXAMPLE.com./a", "http://example.com/a"),
        ("http://user:secret@example.com/", "http://example.com/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://3232235777/", "http://192.168.1.1/"),
        ("http://[2001:DB8:0:0::1]:80/", "http://[2001:db8::1]/"),
        ("http:/host/a", "http://host/a"),
        ("http:\\\\host\\a\\b", "http://host/a/b"),
        ("  http://host/a\t\nb \r\n", "http://host/ab"),
        ("http://host/a b", "http://host/a%20b"),
        ("http://host/%c3%a9%2f", "http://host/%C3%A9%2F"),
        ("http://host/100%", "http://host/100%25"),
        ("http://host/%%37e", "http://host/%257e"),
        ("http://host/a|b[c]^", "http://host/a%7Cb%5Bc%5D%5E"),
        ("http://host/a\0b", "http://host/a%00b"),
        ("http://host/%2e%2E/a/%2e", "http://host/a/"),
        ("http://host/../../a", "http://host/a"),
        ("http://host//a//b", "http://host//a//b"),
        ("http://host/a?", "http://host/a"),
        ("http://host:/a", "http://host/a"),
        ("http://under_score.example/", "http://under_score.example/"),
    ],
)
def test_reads_a_url_as_browsers_do(url: str, canonical: str) -> None:
    assert canonical_url(url) == canonical


@pytest.mark.parametrize(
    ("href", "canonical"),
    [
        ("", "http://host/a/b?q"),
        ("#top", "http://host/a/b?q"),
        ("c", "http://host/a/c"),
        ("./c", "http://host/a/c"),
        ("../c", "http://host/c"),
        ("../../../c", "http://host/c"),
        ("..", "http://host/"),
        ("..//c", "http://host//c"),
        ("/c", "http://host/c"),
        ("\\c", "http://host/c"),
        ("?r", "http://host/a/b?r"),
        ("//other/c", "http://other/c"),
        ("/\\other/c", "http://other/c"),
        ("http:c", "http://host/a/c"),
        ("http:/c", "http://host/c"),
        ("https:c", "https://c/"),
        ("https://other/c", "https://other/c"),
        (" HTTP://other/ ", "http://other/"),
        ("./c:d", "http://host/a/c:d"),
    ],
)
def test_resolves_a_reference_against_its_page(href: str, canonical: str) -> None:
    assert canonical_url(href, "http://host/a/b?q#f") == canonical


def test_a_base_that_is_no_url_hurts_relative_references_only() -> None:
    assert canonical_url("http://host/a", base="nonsense") == "http://host/a"
    for base in ("nonsense", "mailto:me@host", "", "http://host/" + "a" * MAX_LENGTH):
        with pytest.raises(InvalidUrl):
            canonical_url("a", base=base)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "relative/path",
        "http://",
        "http:///",
        "http://?q",
        "http://host:65536/",
        "http://host:port/",
        "http://ho st/",
        "http://a..b/",
        "http://.../",
        "http://[::1/",
        "http://256.1.1.1/",
        "http://" + "a" * 64 + ".example/",
        "http://" + "a.b" * 100 + "/",
        "http://a'b/",
        "http://host/\ud800",
        "mailto:someone@host",
        "javascript:void(0)",
        "ftp://host/file",
        "data:text/html,hello",
        "java\nscript:alert(1)",
        "http://host/" + "a" * MAX_LENGTH,
        "http://host/" + "é" * (MAX_LENGTH // 4),
    ],
)
def test_refuses_what_cannot_be_crawled(url: str) -> None:
    with pytest.raises(InvalidUrl) as refusal:
        canonical_url(url)
    assert refusal.value.url == url.replace("\n", "")
    assert len(str(refusal.value)) < 1000


@pytest.mark.parametrize(
    "name", ["index.html", "INDEX.HTM", "index.php", "Default.aspx", "index.shtml", "index.jsp", "inde%78.html"]
)
def test_default_pages_are_their_folder(name: str) -> None:
    assert canonical_url(f"http://host/a/{name}") == "http://host/a/"


@pytest.mark.parametrize(
    "path", ["index.php?page=2", "home.html", "default.html", "index.html/", "an-index.html", "index.html.de"]
)
def test_other_pages_keep_their_name(path: str) -> None:
    assert canonical_url(f"http://host/{path}") == f"http://host/{path}"


def test_default_pages_can_be_kept_or_named() -> None:
    assert Canonicalizer(default_pages=False)("http://host/index.html") == "http://host/index.html"
    welcome = Canonicalizer(default_pages=["Welcome.html"])
    assert welcome("http://host/welcome.HTML") == "http://host/"
    assert welcome("http://host/index.html") == "http://host/index.html"


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("b=2&a=1", "a=1&b=2"),
        ("a=2&a=1&a=2", "a=1&a=2&a=2"),
        ("b=&a", "a&b="),
        ("a=1&&b=2&", "a=1&b=2"),
        ("q=a%20b+c d", "q=a+b+c+d"),
        ("q=%7e%c3%a9", "q=~%C3%A9"),
        ("u=http%3A%2F%2Fx%2F%3Fy%3Dz", "u=http://x/?y=z"),
        ("a=1%26b%3D2", "a=1%26b=2"),
        ("a%3Db=1", "a%3Db=1"),
        ("C=N;O=D", "C=N;O=D"),
        ("/forum/topic/12", "/forum/topic/12"),
        ("utm_source=x&UTM_Medium=y&id=3", "id=3"),
        ("utm%5Fsource=x&id=3", "id=3"),
        ("gclid=1&fbclid=2&msclkid=3", ""),
        ("ref=a&source=b&id=c", "id=c&ref=a&source=b"),
        ("PHPSESSID=0a1b&x=1", "x=1"),
        ("ASPSESSIONIDQQGQ=K&CFID=1&CFTOKEN=2", ""),
        ("sid=0123456789abcdef0123456789abcdef&t=1", "t=1"),
        ("sid=12", "sid=12"),
        ("session_id=keynote", "session_id=keynote"),
    ],
)
def test_query_rules(query: str, kept: str) -> None:
    assert canonical_url(f"http://host/p?{query}") == "http://host/p" + (f"?{kept}" if kept else "")


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("a;jsessionid=1F?b=1", "a?b=1"),
        (";JSESSIONID=1F", ""),
        ("a;v=1;jsessionid=1F;w=2/b", "a;v=1;w=2/b"),
        ("index.jsp;jsessionid=1F", ""),
        ("(S(abcdefghijklmnopqrstuv12))/page.aspx", "page.aspx"),
        ("f(S(abcdefghijklmnopqrstuv12))", "f(S(abcdefghijklmnopqrstuv12))"),
    ],
)
def test_session_ids_leave_the_path(path: str, kept: str) -> None:
    assert canonical_url(f"http://host/{path}") == f"http://host/{kept}"


def test_query_rules_can_be_switched_off() -> None:
    canonical = Canonicalizer(query_rules=False)
    assert canonical("http://host/a;jsessionid=1?utm_source=x&b=%7e c&a=+") == (
        "http://host/a;jsessionid=1?utm_source=x&b=~%20c&a=+"
    )
    assert canonical("http://host/a?") == "http://host/a"


def test_parameters_to_strip_are_added_to_the_list() -> None:
    canonical = Canonicalizer(strip_parameters=["Ref", "trk_*"])
    assert canonical("http://host/?ref=1&trk_a=2&trk=3&utm_source=4&reference=5") == "http://host/?reference=5&trk=3"
