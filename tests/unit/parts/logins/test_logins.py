"""The credentials that each host receives, and the errors in a file of logins."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path

import pytest

from crawlproject.errors import BadSetting
from crawlproject.parts.logins.logins import Logins
from crawlproject.parts.logins.middleware import headers_for
from crawlproject.parts.logins.part import LoginPart
from crawlproject.records import Fetch, Page

COOKIES = """# Netscape HTTP Cookie File
.forum.example\tTRUE\t/\tFALSE\t4102444800\tsession\tabc
www.shop.example\tFALSE\t/account\tTRUE\t4102444800\tid\t7
www.shop.example\tFALSE\t/\tFALSE\t946684800\told\t1
"""
FILE = """
cookies = "cookies.txt"
[hosts."wiki.example"]
user = "ann"
password_from = "WIKI_PASSWORD"
[hosts."http://API.example:8080".headers]
X-Api-Key = "k"
[hosts."bücher.example:8443".headers]
X-Api-Key = "b"
"""


@pytest.fixture
def logins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Logins:
    monkeypatch.setenv("WIKI_PASSWORD", "a:b")
    (tmp_path / "cookies.txt").write_text(COOKIES)
    (tmp_path / "logins.toml").write_text(FILE)
    return Logins(tmp_path / "logins.toml")


def test_a_host_gets_its_own_and_nobody_elses(logins: Logins) -> None:
    sent = headers_for(logins, "https://wiki.example/page")
    assert list(sent) == ["Authorization"]
    assert b64decode(sent["Authorization"].removeprefix("Basic ")) == b"ann:a:b"
    assert headers_for(logins, "http://api.example:8080/") == {"X-Api-Key": "k"}
    assert headers_for(logins, "https://xn--bcher-kva.example:8443/") == {"X-Api-Key": "b"}


@pytest.mark.parametrize(
    "url",
    [
        "http://wiki.example/page",
        "https://wiki.example:444/page",
        "http://wiki.example:443/page",
        "http://api.example/",
        "https://api.example:8080/",
        "https://www.wiki.example/",
        "https://wiki.example.evil.example/",
        "https://wiki.example@evil.example/",
    ],
)
def test_another_origin_gets_nothing(logins: Logins, url: str) -> None:
    assert headers_for(logins, url) == {}


def test_cookies_go_where_a_browser_sends_them(logins: Logins) -> None:
    assert headers_for(logins, "http://www.forum.example/x") == {"Cookie": "session=abc"}
    assert headers_for(logins, "https://www.shop.example/account/1") == {"Cookie": "id=7"}
    assert headers_for(logins, "http://www.shop.example/account/1") == {}, (
        "a secure one needs https, and the old one has expired"
    )
    assert headers_for(logins, "https://www.shop.example/") == {}


def test_a_page_of_a_host_with_a_login_says_so(logins: Logins) -> None:
    part, fetch = LoginPart(logins), Fetch(200, 0.0, 0.0)
    urls = ("http://www.forum.example/x", "http://api.example/", "http://anybody.example/", "http://example/")
    signs = [dict(part.examine(Page(url, signs={"other": 0.5}), fetch).signs) for url in urls]
    assert signs == [{"other": 0.5, "logged_in": 1.0}] * 2 + [{"other": 0.5}] * 2


@pytest.mark.parametrize(
    ("url", "refused"),
    [
        ("http://wiki.example/logout", True),
        ("http://www.forum.example/user?action=sign-off", True),
        ("http://wiki.example/Special:UserLogout", True),
        ("http://wiki.example/design-office/signoffs", False),
        ("http://wiki.example/catalog/outline", False),
        ("http://other.example/logout", False),
        ("http://logout.wiki.example/", False),
    ],
)
def test_links_that_log_out_are_refused_where_there_is_a_login(logins: Logins, url: str, refused: bool) -> None:
    assert LoginPart(logins).refusal(url, 1) == ("login/logout" if refused else "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hosts = ", "expected TOML"),
        ('[hosts."a.example"]\npasword = "secret"', "hosts.a.example.pasword"),
        ('[hosts."a.example".headers]\nX = "sec\\nret"', "hosts.a.example.headers.X"),
        ('[hosts."a.example"]\nuser = "u"\npassword_from = "NOT_SET_AT_ALL"', "NOT_SET_AT_ALL"),
        ('[hosts."a.example/wiki"]', 'hosts."a.example/wiki": expected a host'),
        ('[hosts."ftp://a.example"]', 'hosts."ftp://a.example": expected a host'),
        ('[hosts."u:secret@a.example"]', 'hosts."a.example": expected a host'),
        ('[hosts."https://u:secret@a.example"]', 'hosts."a.example": expected a host'),
        ("[hosts.'a.example\\b']", "expected a host"),
        ('[hosts.""]', "expected a host"),
        ('[hosts."a.example"]\n[hosts."https://A.example:443"]', "a login for https://a.example already"),
        ('cookies = "missing.txt"', "cookies: cannot be read"),
        ('cookies = "logins.toml"  # a secret', "in Netscape's format"),
    ],
)
def test_what_is_wrong_is_said_without_a_secret(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "logins.toml").write_text(text)
    with pytest.raises(BadSetting) as wrong:
        Logins(tmp_path / "logins.toml")
    assert said in str(wrong.value) and "CRAWL_LOGINS" in str(wrong.value)
    assert "secret" not in str(wrong.value) and "sec\nret" not in str(wrong.value)


def test_a_line_that_is_no_cookie_is_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "cookies.txt").write_text("# Netscape HTTP Cookie File\na.example secret\n")
    (tmp_path / "logins.toml").write_text('cookies = "cookies.txt"')
    with pytest.raises(BadSetting, match="in Netscape's format") as wrong:
        Logins(tmp_path / "logins.toml")
    assert "secret" not in str(wrong.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="cannot be read"):
        Logins(tmp_path / "none.toml")
