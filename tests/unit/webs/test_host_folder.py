"""A folder of ``<host>/<path>`` files as a web."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from crawlproject.errors import BadWeb
from crawlproject.webs.open import Web, open_web


def folder_web(root: Path, **files: str) -> Web:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return open_web(root, cache_dir=root.parent / "cache")


@pytest.fixture
def web(tmp_path: Path) -> Web:
    files = {
        "www.reef.example/index.html": "<p>home",
        "www.reef.example/robots.txt": "User-agent: *",
        "www.reef.example/corals/index.html": "<p>corals",
        "www.reef.example/corals/brain coral.html": "<p>brain",
        "www.reef.example/list?page=2": "<p>second page",
        "www.reef.example:8080/a.txt": "other port",
    }
    return folder_web(tmp_path / "web", **files)


def test_files_are_pages(web: Web) -> None:
    assert web.get("http://www.reef.example/").body == b"<p>home"
    assert web.get("http://www.reef.example/index.html").body == b"<p>home"
    assert web.get("http://www.reef.example/corals/brain%20coral.html").body == b"<p>brain"
    assert web.get("http://www.reef.example/list?page=2").body == b"<p>second page"
    assert web.get("http://www.reef.example:8080/a.txt").body == b"other port"
    assert len(list(web.urls())) == 6
    assert all(url in web for url in web.urls())


def test_content_types(web: Web) -> None:
    assert web.get("http://www.reef.example/").headers["content-type"] == "text/html"
    assert web.get("http://www.reef.example/robots.txt").headers["content-type"] == "text/plain"
    assert web.get("http://www.reef.example/list?page=2").headers["content-type"] == "text/html"


def test_last_modified_is_the_time_of_the_file(tmp_path: Path) -> None:
    web = folder_web(tmp_path / "web", **{"h.example/a.html": "a"})
    os.utime(tmp_path / "web/h.example/a.html", (853_286_400, 853_286_400))
    assert web.get("http://h.example/a.html").headers["last-modified"] == "Wed, 15 Jan 1997 00:00:00 GMT"


def test_folder_without_its_slash_redirects(web: Web) -> None:
    reply = web.get("http://www.reef.example/corals")
    assert (reply.status, reply.headers["location"]) == (301, "http://www.reef.example/corals/")


@pytest.mark.parametrize(
    "url",
    [
        "http://www.reef.example/none",
        "https://www.reef.example/",
        "http://www.reef.example/../../secret",
        "http://../secret",
        "http://www.reef.example/%2e%2e/%2e%2e/secret",
        "http://www.reef.example/corals/\0/index.html",
        "",
    ],
)
def test_nothing_else_is_served(web: Web, tmp_path: Path, url: str) -> None:
    (tmp_path / "secret").write_text("secret")
    assert web.get(url).status == 404
    assert url not in web


def test_links_out_of_the_folder_are_not_followed_and_are_told(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "elsewhere").mkdir()
    host = tmp_path / "web" / "h.example"
    host.mkdir(parents=True)
    (host / "a.html").write_text("a")
    (host / "same.html").symlink_to("a.html")
    (host / "secret.html").symlink_to(tmp_path / "secret")
    (host / "more").symlink_to("../../elsewhere")
    web = open_web(tmp_path / "web", cache_dir=tmp_path / "cache")
    assert web.get("http://h.example/secret.html").status == 404
    assert web.get("http://h.example/same.html").body == b"a"
    assert [warning.partition(",")[0] for warning in web.warnings] == [
        "2 symbolic links out of the folder not followed"
    ]


def test_file_that_vanished_is_a_404(tmp_path: Path) -> None:
    web = folder_web(tmp_path / "web", **{"h.example/a.html": "a"})
    (tmp_path / "web/h.example/a.html").unlink()
    assert web.get("http://h.example/a.html").status == 404


def test_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadWeb, match=r"<host>/<path>"):
        open_web(tmp_path, cache_dir=tmp_path)
