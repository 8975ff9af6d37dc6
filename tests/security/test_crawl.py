"""A whole crawl that starts at an attacker's page: nothing gets out, in, up or over."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from lxml import html as lxml_html
from support.attacker import PAYLOADS, Attacker, Secret, attacking, bombs
from support.crawling import crawl, history, refusals, scrapy, topic_file

HOSTS = (
    "127.0.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "127.0.0.1.", "localhost", "x.localhost",
    "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0", "0.0.0.0", "[::]", "[64:ff9b::7f00:1]", "user:pw@127.0.0.1",
)  # fmt: skip
OTHERS = ("file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:6379/_x", "data:text/html,x", "javascript:x")
SETTINGS = {"DOWNLOAD_TIMEOUT": 1, "RETRY_TIMES": 0, "REDIRECT_MAX_TIMES": 3, "DOWNLOAD_MAXSIZE": 4_000_000}


@dataclass
class Crawled:
    folder: Path
    output: str
    code: int
    visits: int
    origin: str


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    """One crawl, looked at from many sides."""
    place = tmp_path_factory.mktemp("attack")
    with closing(Secret()) as secret:
        inner = [f"http://{host}:{secret.port}/secret" for host in HOSTS]
        links = [*inner, *OTHERS, "http://127.0.0.1:22/", "http://192.168.77.7/", "http://169.254.169.254/latest/"]
        attacker = Attacker(links, [*inner, "http://169.254.169.254/", "file:///etc/passwd", "//127.0.0.1:22/"])
        with attacking(attacker) as port:
            origin = f"http://127.0.0.1:{port}"
            done = crawl(
                topic_file(place, f"{origin}/"),
                place / "crawl",
                CRAWL_ALLOWED_PORTS=f"80,443,{secret.port}",
                **SETTINGS,
            )
        yield Crawled(place / "crawl", done.stderr + done.stdout, done.returncode, secret.visits, origin)


def test_the_crawl_comes_to_its_end(crawled: Crawled) -> None:
    assert crawled.code == 0, crawled.output
    assert "Traceback" not in crawled.output, crawled.output
    assert {line["url"] for line in history(crawled.folder)} >= {f"{crawled.origin}/inject/{n}" for n in range(11)}


def test_nobody_came_to_the_secret(crawled: Crawled) -> None:
    assert crawled.visits == 0
    assert not [line for line in history(crawled.folder) if not line["url"].startswith(f"{crawled.origin}/")]


def test_every_refusal_is_counted_with_its_reason(crawled: Crawled) -> None:
    counts = refusals(crawled.folder)
    document = json.loads((crawled.folder / "refused.json").read_text())
    assert counts["safety/address"] >= 10
    assert counts["safety/port"] >= 1
    assert counts["safety/decompression"] == len(bombs())
    refused = [url for url, _ in document["samples"]["safety/address"]]
    assert any("127.0.0.1" in url for url in refused) and any("[::1]" in url for url in refused)


def test_limits_end_what_has_no_end(crawled: Crawled) -> None:
    errors = {line["url"].removeprefix(crawled.origin): line["error"] for line in history(crawled.folder)}
    assert errors["/drip/body"] == errors["/drip/head"] == "DownloadTimeoutError"
    assert errors["/flood/many"] and errors["/flood/long"]
    assert {errors[path] for path in bombs()} == {"safety/decompression"}
    assert len([path for path in errors if path.startswith("/loop/")]) == 4, "three redirects and then no more"
    seconds = {line["url"].removeprefix(crawled.origin): line["seconds"] for line in history(crawled.folder)}
    assert max(seconds.values()) < 10


def test_no_file_is_anywhere_but_in_the_folder(crawled: Crawled) -> None:
    assert {path.name for path in crawled.folder.parent.iterdir()} == {"topic.toml", "crawl"}
    pages = list((crawled.folder / "pages").rglob("*"))
    assert all(re.fullmatch(r"[0-9a-f]{2,32}(\.[a-z]+)?", path.name) for path in pages), pages
    assert not any(path.is_symlink() for path in crawled.folder.rglob("*"))


@pytest.mark.parametrize("name", ["history.jsonl", "items.jsonl", "links.jsonl"])
def test_a_page_cannot_forge_a_line(crawled: Crawled, name: str) -> None:
    lines = (crawled.folder / name).read_bytes().decode().split("\n")
    assert lines.pop() == ""
    for line in lines:
        read = json.loads(line)
        assert str(read.get("url") or read["source"]).startswith(crawled.origin)
        assert "\x1b" not in read.get("title", "")


# ---------------------------------------------------------------- what people look at

Output = Callable[[Path], str]


def the_report(folder: Path) -> str:
    return (folder / "report.html").read_text()


HTML_OUTPUTS: list[Output] = [the_report]  # whatever becomes HTML: the dashboard, the map and exports belong here, too


@pytest.mark.parametrize("output", HTML_OUTPUTS, ids=lambda output: output.__name__)
def test_html_has_nothing_of_a_page_but_text(crawled: Crawled, output: Output) -> None:
    text = output(crawled.folder)
    assert "coral reef" in text
    tree = lxml_html.fromstring(text)
    for element in tree.iter():
        if not isinstance(element.tag, str):
            continue
        assert element.tag not in ("iframe", "object", "embed", "base"), element.tag
        assert not [name for name in element.attrib if name.lower().startswith("on")], element.attrib
        for name in ("href", "src"):
            assert not element.get(name, "").lower().strip().startswith(("javascript:", "data:text", "file:"))
        if element.tag == "script":
            assert "alert(1)" not in (element.text or "")
    assert "onload=alert" not in re.sub(r"&lt;[^<]*", "", text)
    assert not set(text) & {"\x1b", "\x07", "\u202e", "\0"}
    assert "49" not in [part.strip() for part in tree.xpath("//title/text()")], "a template in a template"


COMMANDS = (["why", "{folder}", "{page}"], ["frontier", "stats", "{folder}"], ["frontier", "why", "{folder}", "{page}"])


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: " ".join(arguments[:2]))
@pytest.mark.parametrize("path", ["/inject/7", "/type"])
def test_a_terminal_is_told_and_not_steered(crawled: Crawled, arguments: list[str], path: str) -> None:
    chosen = [part.format(folder=crawled.folder, page=crawled.origin + path) for part in arguments]
    done = scrapy(*chosen)
    assert done.returncode == 0, done.stderr
    assert not set(done.stdout + done.stderr + crawled.output) & {"\x1b", "\x07", "\x9b", "\u202e"}


def test_payloads_came_through_as_text(crawled: Crawled) -> None:
    titles = [line["title"] for line in history(crawled.folder) if "/inject/" in line["url"]]
    assert len(titles) == len(PAYLOADS)
    assert any("<script>alert(1)</script>" in title for title in titles)
