"""A crawl whose items contain the main content of their pages, as text and as Markdown."""

from __future__ import annotations

from pathlib import Path

from support.crawling import crawl, scrapy, topic_file

from crawlproject.exporting.selection import read_items

PROSE = "The coral reef grows slowly in warm water. " * 5
PAGE = (
    """<title>Reef</title><body class=x><nav><a href=/other>Other pages</a></nav><main><h1>Coral</h1><p>{}</p></main>"""
)


def test_items_and_markdown(tmp_path: Path) -> None:
    site = tmp_path / "web" / "a.example"
    site.mkdir(parents=True)
    (site / "index.html").write_text(PAGE.format(PROSE))
    (site / "other").write_text(PAGE.format("Other words of another page, which is long enough to be read. " * 3))
    topic = topic_file(tmp_path, "http://a.example/")
    for folder, settings in (("plain", {}), ("main", {"PAGE_MAIN_TEXT": "True"})):
        assert crawl(topic, tmp_path / folder, VIRTUAL_WEB=tmp_path / "web", **settings).returncode == 0
    assert {item["text_main"] for item in read_items(tmp_path / "plain")} == {""}
    found = {item["url"]: item for item in read_items(tmp_path / "main")}
    assert found["http://a.example/"]["text_main"] == f"Coral\n{PROSE.strip()}"
    assert found["http://a.example/"]["text"].startswith("Other pages")
    assert scrapy("export", tmp_path / "plain", tmp_path / "md", "--to", "markdown").returncode == 0
    for item in found.values():
        text = (tmp_path / "md" / item["md5"][:2] / f"{item['md5']}.md").read_text()
        assert text.endswith(f"---\n\n# Coral\n\n{item['text_main'].partition(chr(10))[2]}\n")
