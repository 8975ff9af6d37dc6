"""The generated sample web: its size, its difficulties, and its reproducibility."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections import deque
from html import unescape
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from crawlproject.errors import InvalidUrl
from crawlproject.records import Reply
from crawlproject.urls.canonical import canonical_url
from crawlproject.webs.base import Web
from crawlproject.webs.open import open_web
from crawlproject.webs.sample import SampleWeb
from crawlproject.webs.sample.demo import TOPICS, topic_file
from crawlproject.webs.sample.sites import (
    ALIAS,
    BROKEN,
    BUSY_ROBOTS,
    MIRRORED,
    MOVING,
    REFUSING,
    SESSION_SHOP,
    SLEEPING,
)

ROOT = Path(__file__).parents[3]
HREF = re.compile(r'<a href="([^"]+)"( rel=nofollow)?>')


@pytest.fixture(scope="module")
def web() -> SampleWeb:
    return SampleWeb()


def text(reply: Reply) -> str:
    charset = reply.headers["content-type"].partition("charset=")[2]
    return reply.body.decode(charset)


def links(web: Web, url: str) -> list[str]:
    """The absolute links of a page, as they are written."""
    return links_of(web.get(url))


def links_of(reply: Reply) -> list[str]:
    return [urljoin(reply.url, unescape(match[1])) for match in HREF.finditer(text(reply))]


def reached(web: Web, seeds: list[str], depth: int) -> set[str]:
    """The canonical URLs of pages that a crawler reaches within ``depth`` links."""
    waiting = deque((canonical_url(seed), 0) for seed in seeds)
    known = {url for url, _ in waiting}
    pages = set()
    while waiting:
        url, steps = waiting.popleft()
        reply = web.get(url)
        targets = [reply.headers["location"]] if "location" in reply.headers else []
        if reply.status == 200:
            pages.add(url)
            targets = links_of(reply) if "text/html" in reply.headers["content-type"] else []
        for target in targets if steps < depth else ():
            try:
                found = canonical_url(target, url)
            except InvalidUrl:
                continue
            if found not in known:
                known.add(found)
                waiting.append((found, steps + 1))
    return pages


@pytest.fixture(scope="module")
def replies(web: SampleWeb) -> dict[str, Reply]:
    """Every stored page, requested once."""
    return {url: web.get(url) for url in web.plan.pages}


def test_size(web: SampleWeb) -> None:
    assert len(web.plan.sites) == 120
    assert 1_900 <= len(web.plan.pages) <= 2_100
    assert {urlsplit(url).hostname for url in web.urls()} <= set(web.plan.sites)
    assert all(host.endswith(".example") for host in web.plan.sites)


def test_every_stored_url_is_answered_and_canonical_but_for_pages_of_lists(web: SampleWeb) -> None:
    for url in web.urls():
        assert url in web
        assert web.get(url).status != 404
        assert canonical_url(url) == url


def test_same_seed_same_bytes_in_another_process() -> None:
    script = (
        "import hashlib, crawlproject.webs.sample as s; w = s.SampleWeb(); "
        "print(hashlib.md5(repr([w.get(u) for u in w.urls()]).encode()).hexdigest())"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", script], cwd=ROOT, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


def test_another_seed_is_another_web(web: SampleWeb) -> None:
    other = SampleWeb(7)
    home = "http://www.reef-atlas.example/"
    assert other.get(home).body != web.get(home).body
    assert len(other.plan.sites) == 120


def test_order_of_asking_does_not_matter(web: SampleWeb) -> None:
    urls = list(web.urls())[:200]
    other = SampleWeb()
    assert [web.get(url) for url in reversed(urls)] == [other.get(url) for url in urls][::-1]


def test_every_page_can_be_reached_from_a_portal(web: SampleWeb) -> None:
    pages = reached(web, ["http://www.first-page.example/"], depth=12)
    missing = {
        url
        for url, page in web.plan.pages.items()
        if url not in pages and not page.site.error and page.site.status == 200
    }
    assert missing == set()
    assert len(pages) >= 1_900


def test_pages_are_readable(web: SampleWeb) -> None:
    article = next(page for page in web.plan.pages.values() if page.kind == "article" and page.theme.key == "coral")
    html = text(web.get(article.url))
    for part in ("<title>", "<h1>", "<h2>", "<ul><li>", "Further reading"):
        assert part in html
    assert "{" not in html
    assert article.subject in html
    assert len(re.sub(r"<[^>]+>", " ", html).split()) > 150


def test_no_template_slot_is_left_anywhere(replies: dict[str, Reply]) -> None:
    for reply in replies.values():
        assert reply.status != 200 or "{" not in text(reply)


def test_old_charset_is_declared_and_used(replies: dict[str, Reply]) -> None:
    old = [reply for reply in replies.values() if "iso-8859-1" in reply.headers.get("content-type", "")]
    assert any("é" in text(reply) and "é".encode("latin-1") in reply.body for reply in old)


def test_on_topic_pages_link_to_their_theme_with_telling_anchors(web: SampleWeb) -> None:
    article = next(page for page in web.plan.pages.values() if page.kind == "article" and page.theme.key == "coral")
    targets = [web.plan.pages.get(url) for url in links(web, article.url)]
    themes = {page.theme.key for page in targets if page and page.site is not article.site}
    assert {"coral", "everyday"} <= themes


def test_hidden_sites_are_linked_from_their_tunnel_only(web: SampleWeb, replies: dict[str, Reply]) -> None:
    hidden = {site.host for site in web.plan.sites.values() if site.hidden}
    assert len(hidden) == 12
    sources: dict[str, set[str]] = {host: set() for host in hidden}
    for url, page in web.plan.pages.items():
        if replies[url].status == 200:
            for target in links_of(replies[url]):
                host = urlsplit(target).hostname or ""
                if host in hidden and host != page.site.host:
                    sources[host].add(url)
    tunnels = {site.host: url for url, site in web.plan.tunnels.items()}
    assert sources == {host: {tunnels[host]} for host in hidden}
    assert all(web.plan.pages[url].theme.key == "everyday" for url in tunnels.values())


def test_robots_rules(web: SampleWeb) -> None:
    robots = [web.get(f"{site.url}robots.txt") for site in web.plan.sites.values()]
    texts = [reply.body.decode() for reply in robots if reply.status == 200]
    assert sum("Crawl-delay: 2" in text for text in texts) >= 3
    assert sum("Disallow: /archive/" in text for text in texts) >= 20
    assert sum(reply.status == 404 for reply in robots) >= 20
    assert web.get(f"http://{BUSY_ROBOTS}/robots.txt").status == 503
    assert web.get(f"http://{BUSY_ROBOTS}/").status == 200


def test_failing_and_slow_hosts(web: SampleWeb) -> None:
    assert web.get(f"http://{REFUSING}/").error == "connection refused"
    assert web.get(f"http://{SLEEPING}/").error == "timeout"
    assert web.get(f"http://{SLEEPING}/robots.txt").error == "timeout"
    assert web.get(f"http://{BROKEN}/").status == 500
    slow = [site for site in web.plan.sites.values() if 2.0 <= site.seconds <= 5.0]
    assert len(slow) >= 5
    assert web.get(slow[0].url).seconds >= 2.0


def test_calendar_never_ends(web: SampleWeb) -> None:
    url = next(page.url for page in web.plan.pages.values() if page.kind == "calendar")
    seen = set()
    for _ in range(30):
        seen.add(url)
        assert web.get(url).status == 200
        url = links(web, url)[-1]
    assert len(seen) == 30
    assert url.endswith("/calendar/2006/11/")
    assert web.get(url.replace("2006/11", "2006/13")).status == 404
    assert web.get(url.replace("2006/11", "9999/12")).status == 200
    assert web.get(url.replace("2006/11", "0000/01")).status == 200
    assert web.get("http://www.reef-atlas.example/calendar/2004/05/").status == 404


def test_session_ids_never_end_but_canonical_urls_do(web: SampleWeb) -> None:
    url = f"http://{SESSION_SHOP}/"
    seen = set()
    for _ in range(40):
        url = links(web, url)[-1]  # always back to the front page, under another name
        assert web.get(url).status == 200
        seen.add(url)
    assert len(seen) == 40
    assert len({canonical_url(url) for url in seen}) == 1


def follow(web: Web, url: str) -> list[tuple[int, str]]:
    """Status and URL of each hop, ten at most."""
    hops: list[tuple[int, str]] = []
    while len(hops) < 10:
        reply = web.get(url)
        hops.append((reply.status, url))
        if "location" not in reply.headers:
            break
        url = canonical_url(reply.headers["location"], url)
    return hops


def test_redirects(web: SampleWeb) -> None:
    assert [status for status, _ in follow(web, f"http://{MOVING}/reef")] == [302, 301, 302, 200]
    assert [status for status, _ in follow(web, f"http://{MOVING}/corals")] == [301, 200]
    assert [status for status, _ in follow(web, f"http://{MOVING}/gone")] == [301, 404]
    assert [status for status, _ in follow(web, f"http://{MOVING}/hither")] == [302] * 10
    assert follow(web, f"http://{ALIAS}/") == [(301, f"http://{ALIAS}/"), (200, f"http://{MIRRORED}/")]


def test_mirror_is_nearly_the_same(web: SampleWeb) -> None:
    original = next(page for page in web.plan.pages.values() if page.site.host == MIRRORED and page.kind == "article")
    mirrored = next(page for page in web.plan.pages.values() if page.kind == "mirror" and page.title == original.title)
    words = [set(re.sub(r"<[^>]+>", " ", text(web.get(page.url))).split()) for page in (original, mirrored)]
    assert words[0] != words[1]
    assert web.get(original.url).body != web.get(mirrored.url).body
    for sentence in original.theme.subjects[original.subject]:
        assert unescape(sentence) in unescape(text(web.get(mirrored.url)))


def test_nofollow_and_noindex(web: SampleWeb) -> None:
    guestbook = next(page.url for page in web.plan.pages.values() if page.kind == "guestbook")
    assert " rel=nofollow>" in text(web.get(guestbook))
    archive = next(page.url for page in web.plan.pages.values() if page.kind == "archive")
    assert '<meta name="robots" content="noindex">' in text(web.get(archive))


@pytest.mark.parametrize(
    "url",
    [
        "http://www.reef-atlas.example/none",
        "http://no-such-host.example/",
        "https://www.reef-atlas.example/",
        "",
        "http://[",
    ],
)
def test_what_is_not_held_is_a_404(web: SampleWeb, url: str) -> None:
    assert web.get(url).status == 404
    assert url not in web


def test_open_web_knows_the_word_sample(tmp_path: Path) -> None:
    assert isinstance(open_web("sample", cache_dir=tmp_path), SampleWeb)


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_topic_files_are_those_of_the_plan(web: SampleWeb, topic) -> None:
    written = (ROOT / "topics" / f"{topic.name}.toml").read_text(encoding="utf-8")
    assert written == topic_file(web, topic), "run: python -m crawlproject.webs.sample topics"
    table = tomllib.loads(written)
    assert 30 <= len(table["targets"]) <= 100
    assert all(web.get(url).status == 200 for url in (*table["targets"], *table["seeds"]))


def test_demo_topic_can_fetch_six_hundred_pages_and_reach_its_targets(web: SampleWeb) -> None:
    table = tomllib.loads((ROOT / "topics" / "demo.toml").read_text(encoding="utf-8"))
    pages = reached(web, table["seeds"], depth=12)
    assert len(pages) >= 600
    assert set(table["targets"]) <= pages
