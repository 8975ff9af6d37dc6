import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.pages.html.encoding import _WEB_ENCODINGS, as_utf8, decode


@pytest.mark.parametrize(
    ("body", "content_type", "encoding", "text"),
    [
        ("é".encode(), "text/html; charset=utf-8", "utf-8", "é"),
        (b"\xe9\x93", "text/html; charset=ISO-8859-1", "cp1252", "é“"),
        (b'<meta charset="windows-1251">\xcf', "", "cp1251", '<meta charset="windows-1251">П'),
        (b"<meta charset=windows-1251>\xe9", "text/html; charset=latin1", "cp1252", "<meta charset=windows-1251>é"),
        (b"\xef\xbb\xbf\xc3\xa9", "text/html; charset=latin1", "utf-8", "é"),
        (b"\xff\xfeh\0i\0", "", "utf-16-le", "hi"),
        (b"\xfe\xff\0h\0i", "", "utf-16-be", "hi"),
        (b"h\0i\0", "text/html; charset=utf-16", "utf-16-le", "hi"),
        (b"<meta charset=utf-16>\xc3\xa9", "", "utf-8", "<meta charset=utf-16>é"),
        ("日本".encode("euc_jp"), "text/html; charset=euc-jp", "euc_jp", "日本"),
        ("中文".encode("gbk"), "text/html; charset=gb2312", "gb18030", "中文"),
    ],
    ids=["header", "latin-1", "meta", "header-first", "mark-first", "le", "be", "utf-16", "lying-meta", "ja", "zh"],
)
def test_what_is_declared_is_obeyed_in_the_order_of_browsers(
    body: bytes, content_type: str, encoding: str, text: str
) -> None:
    assert decode(body, content_type) == (encoding, text)


def test_undeclared_text_is_utf_8_when_it_is_valid_and_windows_1252_otherwise() -> None:
    assert decode("naïve".encode()) == ("utf-8", "naïve")
    assert decode(b"na\xefve \x93x\x94") == ("cp1252", "naïve “x”")
    assert decode(b"") == ("utf-8", "")


@pytest.mark.parametrize("label", ["hex", "base64", "rot13", "unicode_escape", "punycode", "undefined", "utf-7"])
def test_a_page_cannot_choose_a_codec_that_is_no_encoding_of_the_web(label: str) -> None:
    body = rb"<p>\ud800 +ADw-"
    assert decode(body, f"text/html; charset={label}") == ("utf-8", body.decode())
    assert decode(f"<meta charset={label}>".encode() + body)[0] == "utf-8"


def test_every_honoured_encoding_is_a_codec_under_its_own_name() -> None:
    assert {codecs.lookup(name).name for name in _WEB_ENCODINGS} == _WEB_ENCODINGS


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode), st.sampled_from(["", *sorted(_WEB_ENCODINGS)]))
def test_any_bytes_in_any_encoding_give_text_that_utf_8_can_write(body: bytes, encoding: str) -> None:
    header = f"text/html; charset={encoding}" if encoding else ""
    name, text = decode(body, header)
    assert as_utf8(body, header) == (name, text.encode("utf-8"))
