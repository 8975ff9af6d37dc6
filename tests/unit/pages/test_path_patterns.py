"""Patterns of robots.txt: the same URLs are meant as Protego means."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from protego import Protego

from crawlproject.crawl.robots import RobotsRules
from crawlproject.pages.path_patterns import PathPatterns

HOST = "http://reef.example"
PIECES = [
    "/",
    "a",
    "b",
    "ab",
    "*",
    "$",
    "?",
    "&",
    "=",
    "%2F",
    "%2f",
    "%61",
    "%25",
    "%2A",
    "%24",
    "%E3%83%84",
    "ツ",
    "%zz",
]
PIECES += [*"%~:;+'[@!\\ ", '"', "é", "%FF", "http://", "robots.txt", "\x85", "\u2028"]
Text = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
Path = Text.map(lambda text: "/" + text)
Pattern = st.one_of(Path, Path, Text, st.sampled_from(["/", "/*", "*", "$", "/$", "**", "/a*$"])).map(str.strip)
# Protego takes //a for a host, and /robots.txt;a for robots.txt.
Asked = st.lists(Path.filter(lambda path: not path.startswith(("//", "/robots.txt;"))), min_size=1, max_size=5)
Rules = st.lists(st.tuples(st.booleans(), Pattern), max_size=12)


def by_protego(rules: list[tuple[bool, str]], url: str) -> bool:
    lines = [f"{'Allow' if allows else 'Disallow'}: {pattern}" for allows, pattern in rules if pattern]
    return Protego.parse("\n".join(["User-agent: *", *lines])).can_fetch(url, "*")


@given(Rules, Asked)
@example([(False, "/a$")], ["/a", "/a$", "/ab"])
@example([(True, "/a*"), (False, "/ab")], ["/ab", "/abc"])
@example([(True, "/ab"), (False, "/a*")], ["/ab", "/ac"])
@example([(False, "/"), (True, "$")], ["/", "/a"])
@example([(False, "/")], ["/robots.txt", "/robots.txt?a", "/robots.txta"])
def test_the_answers_are_those_of_protego(rules: list[tuple[bool, str]], paths: list[str]) -> None:
    plain = [
        (allows, pattern) for allows, pattern in rules if not set(pattern) & set("\x85\u2028")
    ]  # ends of lines to it
    patterns = PathPatterns([it for allows, it in plain if allows], [it for allows, it in plain if not allows])
    for path in paths:
        assert patterns.allow(HOST + path) == by_protego(plain, HOST + path), path


Line = st.one_of(
    st.tuples(st.sampled_from(["Disallow: ", "disallow:", "Allow:", "ALLOW : ", "Dissallow: "]), Path).map("".join),
    st.sampled_from(
        ["", "#", "Crawl-delay: 3", "Crawl-delay: x", "Sitemap: http://h.example/s", "what: ever", "Disallow:"]
    ),
    st.sampled_from(
        [
            "Disallow: /a # why",
            "Disallow /a",
            " Disallow: /b\t",
            "Disallow: /b disallow: /c",
            "Disallow:/",
            "Allow: /disallow:/a",
        ]
    ),
)


@given(st.lists(Line, max_size=20), st.sampled_from(["\n", "\r\n", "\r", "\n\n"]), Asked)
def test_a_file_is_read_as_protego_reads_it(lines: list[str], end: str, paths: list[str]) -> None:
    lines = [
        line for line in lines if not set(line) & set("\x85\u2028") and "%2" not in line
    ]  # see the table in RFC 9309
    text = end.join(["User-agent: *", *lines])
    found, expected = RobotsRules(200, text.encode(), 0.0, "reefbot"), Protego.parse(text)
    assert found.crawl_delay(300.0) == (expected.crawl_delay("*") or 0.0)
    for path in paths:
        if "%2" not in path:
            assert found.allows(HOST + path) == expected.can_fetch(HOST + path, "*"), path


def test_a_rule_of_many_thousand_decides() -> None:
    forbidden = [f"/a{number}" for number in range(26_000)]
    patterns = PathPatterns(["/a25999/open", "/a17*/open$"], forbidden)
    asked = {"/a25999/x": False, "/a25999/open/x": True, "/b": True, "/a17/open": True, "/a17/open/x": False}
    assert {path: patterns.allow(HOST + path) for path in asked} == asked
