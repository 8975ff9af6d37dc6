"""`scrapy why` over the folder of a crawl."""

from __future__ import annotations

from support.crawling import crawl, history, scrapy, topic_file


def test_a_fetched_page_has_its_number_its_score_and_the_way_to_it(tmp_path) -> None:
    topic = topic_file(tmp_path, "http://www.lagoon-notes.example/", keywords="coral reefs")
    run = crawl(topic, tmp_path / "c", VIRTUAL_WEB="sample", CRAWL_MAX_PAGES=15, CRAWL_ALLOWED_DOMAINS="")
    assert run.returncode == 0, run.stderr
    line = history(tmp_path / "c")[9]
    answer = scrapy("why", tmp_path / "c", line["url"])
    assert answer.returncode == 0 and "\x1b" not in answer.stdout
    assert "Fetched: number 10 of" in answer.stdout and line["parent"] in answer.stdout
    assert "the sum of" in answer.stdout
