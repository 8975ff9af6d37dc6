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


def test_undeclared_text_is_utf_8_when_it_is_valid_and_windows_1252_when_little_speaks_for_another() -> None:
    assert decode("naïve".encode()) == ("utf-8", "naïve")
    assert decode(b"na\xefve \x93x\x94") == ("cp1252", "naïve “x”")
    assert decode(b'<h1>Install<a href="#install">\xb6</a></h1>' * 50)[1].endswith(">¶</a></h1>")
    assert decode(b"") == ("utf-8", "")


@given(st.text(st.characters(codec="utf-8"), min_size=10), st.integers(0, 3))
def test_a_page_that_is_cut_inside_a_letter_is_utf_8_up_to_there(text: str, cut: int) -> None:
    whole = f"{text}Кораллы 珊瑚礁 🐠".encode()
    body = whole[: len(whole) - cut]
    assert decode(body) == ("utf-8", body.decode("utf-8", "ignore"))
    assert as_utf8(body) == ("utf-8", body.decode("utf-8", "ignore").encode())


def test_a_letter_that_breaks_off_in_the_middle_is_no_utf_8() -> None:
    assert decode("Кораллы".encode()[:3] + b" reef")[0] != "utf-8"


UNDECLARED = {
    "ru": ("Коралловый риф - дом многих рыб, и вода вокруг него всегда тёплая.", "koi8-r cp1251 iso8859-5 cp866"),
    "ja": ("サンゴ礁は多くの魚の家です。水はいつも暖かい。", "shift_jis euc_jp iso2022_jp"),
    "ko": ("산호초는 많은 물고기의 집이며 물은 언제나 따뜻하다.", "euc_kr"),
    "zh": ("珊瑚礁是许多鱼类的家园，那里的水总是温暖的。", "gb2312 gb18030"),
    "zh-tw": ("珊瑚礁是許多魚類的家園，那裡的水總是溫暖的。", "big5"),
    "el": ("Ο κοραλλιογενής ύφαλος είναι το σπίτι πολλών ψαριών, και το νερό είναι ζεστό.", "iso8859-7 cp1253"),
    "he": ("שונית האלמוגים היא ביתם של דגים רבים, והמים תמיד חמים.", "cp1255"),
    "ar": ("الشعاب المرجانية موطن لكثير من الأسماك، والماء دافئ دائما.", "cp1256 iso8859-6"),
    "pl": (
        "Rafa koralowa jest domem wielu ryb, które żyją wśród gałązek w ciepłej wodzie. "
        "Każda z nich znajdzie tam schronienie i pożywienie, a słońce świeci cały rok. "
        "Nurkowie przyjeżdżają tu, żeby oglądać żółwie, rozgwiazdy i koniki morskie, które pływają między łodziami.",
        "iso8859-2 cp1250",
    ),
    "tr": ("Mercan kayalığı birçok balığın yuvasıdır; orada güneş ışığı ve sıcak su var.", "iso8859-9"),
    "th": ("แนวปะการังเป็นบ้านของปลามากมาย และน้ำที่นั่นอุ่นเสมอ", "cp874"),
    "fr": (
        "Le récif est la maison de très nombreux poissons ; l'eau y est toujours tempérée, même en février.",
        "cp1252",
    ),
}


@pytest.mark.parametrize(
    ("language", "encoding"), [(name, each) for name, (_, all_) in UNDECLARED.items() for each in all_.split()]
)
def test_text_in_an_encoding_that_nobody_declares_is_legible(language: str, encoding: str) -> None:
    text = f"<html><title>Reef</title><p>{UNDECLARED[language][0]}</p></html>"
    assert decode(text.encode(encoding))[1] == text
    assert as_utf8(text.encode(encoding), "text/html")[1].decode() == text


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
