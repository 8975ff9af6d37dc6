"""report.html: its content, that it is self-contained, and that hostile pages cannot attack its reader."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from crawlproject.errors import BadCrawlDir
from crawlproject.reports import html
from crawlproject.reports.report import write_report

SCRIPT = "<script>alert(1)</script>"
VOID = {"wbr", "meta", "link", "br", "img", "input", "hr", "circle", "line"}


class Reader(HTMLParser):
    """Visible text, tags, attributes; checks that tags nest."""

    def __init__(self, text):
        super().__init__()
        self.text, self.tags, self.links, self.attributes, self._open = "", set(), [], [], []
        self.source = text
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += attributes
        if tag == "a":
            self.links.append(dict(attributes))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self._open.pop() == tag
        if tag in {"dt", "dd", "td", "th", "li", "p", "div"}:
            self.text += " "

    def handle_data(self, data):
        if not self._open or self._open[-1] != "style":
            self.text += data

    @property
    def ways_out(self):
        """Links that lead out of the report and its folder."""
        return [link for link in self.links if "data-file" not in link and not link["href"].startswith("#")]

    @property
    def words(self):
        return " ".join(self.text.split())


@pytest.fixture
def report_of(write_crawl, tmp_path):
    def make(*arguments, **fields):
        folder = write_crawl(tmp_path / "crawl", *arguments, **fields)
        path = write_report(folder)
        assert path == folder / "report.html"
        return Reader(path.read_text(encoding="utf-8"))

    return make


def test_an_empty_crawl_has_a_report(report_of):
    report = report_of()
    assert "pages stored 0 " in report.words
    assert "No page was stored yet." in report.words
    assert "Not ended: the crawl is running" in report.words


def test_one_page_has_a_report_without_charts(report_of, page):
    report = report_of([page("http://a.example/", relevance=0.5, score=1e18, title="The only page")])
    assert "The only page" in report.text
    assert "relevance 0.500 · a seed" in report.words  # its score says only that it comes first
    assert "There are too few pages for a chart." in report.words


def test_it_says_what_was_asked_and_what_was_found(report_of, crawl_of_pages):
    report = report_of(
        crawl_of_pages(300),
        topic={"name": "offshore wind", "keywords": ["offshore", "wind"], "seeds": ["http://site0.example.org/"]},
        parameters={"alpha": 0.25, "without": ""},
        settings={"politeness_min_delay": 1.0, "politeness_factor": 1.0, "crawl_max_pages": 300, "page_relevant": 0.2},
        started=1_790_000_000.0,
        finished=1_790_000_900.0,
        reason="finished",
        stats={"frontier/evicted": 42},
        refused={"counts": {"trap/too_long": 1234}, "samples": {"trap/too_long": [["http://x.example/aaa", None]]}},
    )
    for expected in (
        "offshore wind",
        "Keywords: offshore, wind",
        "dom (alpha = 0.25)",
        "Budget 300 pages",
        "2026-09-21 14:13:20 UTC to 2026-09-21 14:28:20 UTC",
        "the page budget was spent",
        "relevance ≥ 0.2",
        "trap/too_long: 1,234",
        "http://x.example/aaa",
        "42 waiting URLs were dropped",
        "http 404",
        "timeout",
        "redirects",
        "site3.example.org",
        "None of the",
    ):
        assert expected in report.words
    assert {"svg", "polyline", "circle"} <= report.tags


def test_a_page_says_how_it_was_reached(report_of, page):
    seed, hub = "http://seed.example/", "http://hub.example/"
    report = report_of([
        page(seed, title="The seed"),
        page(hub, parent=seed, anchor="a list", depth=1, title="The hub", context_score=0.4),
        page("http://leaf.example/", parent=hub, anchor="wind at sea", depth=2, relevance=0.9, context_score=0.75),
    ])  # fmt: skip
    assert "Reached from The hub by the link wind at sea, context score 0.750." in report.words
    assert "Path from the seed The seed relevance 0.000 a list (0.400) → The hub" in report.words


def test_a_long_path_is_shortened(report_of, page):
    url = "http://a.example/{}".format
    visits = [page(url(i), parent=url(i - 1) if i else None, depth=i, title=f"Page {i}") for i in range(40)]
    visits.append(page(url(40), parent=url(39), depth=40, title="Page 40", relevance=0.9))
    report = report_of(visits)
    assert "… 30 pages are not shown …" in report.words


def test_hostile_titles_stay_text(report_of, page):
    titles = [
        SCRIPT,
        "\u202eevil\u2066",
        "x" * 10_000,
        "\x00\x1b[31m",
        '" onmouseover="alert(1)',
        "{{ 7 * 7 }}",
        "\x07",
    ]
    visits = [page(f"http://a.example/{i}", title=title, relevance=0.5) for i, title in enumerate(titles)]
    visits.append(page("http://b.example/", parent="http://a.example/0", anchor=SCRIPT, relevance=0.9))
    visits.append(page("http://c.example/", md5="", status=0, error=SCRIPT, title=""))
    report = report_of(
        visits,
        topic={"name": SCRIPT, "keywords": [SCRIPT], "seeds": ["javascript:alert(1)"], "description": SCRIPT},
        ordering=SCRIPT,
        parameters={SCRIPT: SCRIPT},
        settings={SCRIPT: SCRIPT},
        reason=SCRIPT,
        web=SCRIPT,
        refused={"counts": {SCRIPT: 3}, "samples": {SCRIPT: [["javascript:alert(1)", SCRIPT]]}},
    )
    assert "script" not in report.tags
    assert SCRIPT in report.text
    assert "{{ 7 * 7 }}" in report.text
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", report.text)
    assert max(map(len, report.text.splitlines())) < 2_000
    assert not [name for name, _ in report.attributes if name.startswith("on")]
    assert {link["href"].split(":")[0] for link in report.ways_out} == {"http"}


def test_it_asks_nobody_for_anything(report_of, crawl_of_pages):
    report = report_of(crawl_of_pages(60))
    assert not report.tags & {"script", "img", "link", "iframe", "object", "embed", "base", "form", "audio", "video"}
    assert not [value for name, value in report.attributes if name in {"src", "srcset", "xlink:href", "background"}]
    assert all(set(link["rel"].split()) == {"noreferrer", "noopener"} for link in report.ways_out)
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in report.attributes


def test_pauses_that_were_too_short_are_counted_and_named(report_of, page):
    visits = [
        page("http://a.example/1", at=10.0, seconds=0.5),
        page("http://a.example/2", at=11.0, seconds=0.5),  # starts 0.5 s after the one before; 1 s was asked for
        page("http://a.example/3", at=14.0, seconds=2.0),
        page("http://a.example/4", at=15.6, seconds=0.1),  # 1.5 s later, but the last fetch took 2 s
        page("http://b.example/1", at=15.7, seconds=0.1),
        page("http://b.example/2", at=16.8, seconds=0.1),
    ]
    report = report_of(visits, settings={"politeness_min_delay": 1.0, "politeness_factor": 1.0})
    assert "2 of 4 fetches came too soon" in report.words
    assert "The shortest pause was 0.500 s." in report.words
    assert "a.example 2 4 0.500 s" in report.words


def test_target_recall_is_reported_over_all_targets_and_how_many_are_within_reach(report_of, page, tmp_path):
    urls = [f"http://a.example/{i}" for i in range(4)]
    (tmp_path / "reachable.json").write_text(json.dumps({"targets": [urls[1], urls[3], "http://gone.example/"]}))
    report = report_of([page(url) for url in urls], topic={"name": "t", "targets": [*urls, "http://gone.example/"]})
    assert "4 of 5 target pages were found; the seeds lead to 3 of them." in report.words
    assert "25.0% after 2 pages; 50.0% after 3 pages; 75.0% after 4 pages" in report.words
    assert "http://gone.example/" in report.text


def test_copies_of_a_page_are_listed_once_and_refetched_pages_count_once(report_of, page):
    copy = {"digest": "same", "size": 10, "relevance": 0.9, "title": "A copy"}
    first = page("http://a.example/", **copy)
    report = report_of([first, page("http://b.example/", **copy), first, page("http://c.example/", title="Another")])
    assert report.text.count("A copy") == 1
    assert "1 of the fetches repeated a stored page" in report.words
    assert "pages stored 3 " in report.words


def test_a_killed_crawl_and_a_torn_line_are_reported(report_of, write_crawl, page, tmp_path):
    folder = write_crawl(tmp_path / "killed", [page("http://a.example/", title="Whole")])
    with (folder / "history.jsonl").open("a") as history:
        history.write('{"url": "http://torn.ex')
    text = write_report(folder).read_text()
    assert "Whole" in text
    assert "can be resumed" in text
    assert "torn.ex" not in text


def test_writing_twice_gives_the_same_bytes(write_crawl, crawl_of_pages, tmp_path):
    folder = write_crawl(tmp_path / "c", crawl_of_pages(80))
    first = write_report(folder).read_bytes()
    assert write_report(folder).read_bytes() == first
    assert [path.name for path in folder.iterdir() if path.suffix == ".tmp"] == []


def test_a_folder_without_a_crawl_is_refused(tmp_path):
    with pytest.raises(BadCrawlDir, match=re.escape("crawl.json")):
        write_report(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_rehearsal_has_no_date_and_no_bytes(report_of, page):
    empty = "d41d8cd98f00b204e9800998ecf8427e"  # a rehearsal notes the digest of no bytes for every page
    visits = [page(f"http://a.example/{i}", at=float(i), digest=empty, title=f"Page {i}") for i in range(3)]
    report = report_of(visits, started=0.0, finished=3.0, reason="page budget")
    assert "1970" not in report.words
    assert "a virtual clock" in report.words
    assert "the page budget was spent" in report.words
    assert all(f"Page {i}" in report.text for i in range(3))


def test_the_reason_for_the_end_comes_first(report_of, page):
    report = report_of([page("http://a.example/")], reason="saturated", finished=1_790_000_000.0)
    assert report.words.index("Ended: the crawl was saturated") < report.words.index("pages stored")


def test_a_number_of_waiting_urls_that_is_none_is_left_out(report_of, page):
    report = report_of(
        [page("http://a.example/")], stats={"waiting/in_turn": 1234, "waiting/held": "x", "waiting/again": []}
    )
    assert "1,234 in the order of their scores" in report.words and "until a time" not in report.words


def test_every_inner_link_leads_somewhere_and_every_file_is_there(report_of, crawl_of_pages, tmp_path):
    report = report_of(crawl_of_pages(120), refused={"counts": {"host/given_up": 3}, "samples": {}})
    ids = {value for name, value in report.attributes if name == "id"}
    inner = [link["href"][1:] for link in report.links if link["href"].startswith("#")]
    assert len(inner) >= 10 and set(inner) <= ids
    files = {link["href"] for link in report.links if "data-file" in link}
    assert {"report.json", "history.jsonl", "refused.json"} <= files
    assert all((tmp_path / "crawl" / name).exists() for name in files)


def test_the_contents_name_each_section(report_of, crawl_of_pages):
    report = report_of(crawl_of_pages(120))
    (contents,) = re.findall(r'<nav class="contents.*?</nav>', report.source, re.S)
    listed = re.findall(r'href="#([\w-]+)">(.+?)</a>', contents)
    assert listed == re.findall(r'<h2 id="([\w-]+)">(.+?)</h2>', report.source)
    assert ("hosts", "Hosts") in listed and ("blocks", "Hosts that blocked the crawler") not in listed


def test_a_few_figures_stand_out_and_the_others_are_together(report_of, crawl_of_pages):
    report = report_of(crawl_of_pages(120))
    (large,) = re.findall(r'<dl class="tiles">(.*?)</dl>', report.source, re.S)
    assert re.findall(r"<dt>([a-z ]+)", large) == ["pages stored", "harvest rate", "mean relevance"]
    assert "fetches without a page" not in large and "fetches without a page" in report.words


def test_reasons_of_failures_are_explained(report_of, page):
    failing = {
        "no network": 0,
        "tls wrong version number": 0,
        "block/captcha": 0,
        "flood/slow": 200,
        "http 503": 503,
        "odd": 0,
    }
    report = report_of(
        [
            page(f"http://{n}.example/", md5="", error=error, status=status)
            for n, (error, status) in enumerate(failing.items())
        ]
    )
    for expected in (
        "no network no host answered any more",
        "tls wrong version number the server and the crawler do not agree on TLS",
        "block/captcha a page for robots instead",
        "flood/slow the response came far too slowly",
        "http 503 a fault of the server",
        "odd 1",
    ):
        assert expected in report.words


@pytest.mark.parametrize("program", ["scrapy", "topical"])
def test_it_names_the_command_that_runs_here(report_of, page, monkeypatch, program):
    monkeypatch.setattr(html, "program", program)
    found, empty = (report_of(visits) for visits in ([page("http://a.example/", relevance=0.0)], []))
    named = [*re.findall(r"<code>(\w+) [a-z]+", found.source), *re.findall(r"<code>(\w+) [a-z]+", empty.source)]
    assert f"{program} index" in found.words and f"{program} topic check" in empty.words
    assert {*named} - {"jq", "wc"} == {program}


def test_numbers_are_counted_again_by_the_commands_beside_them(write_crawl, crawl_of_pages, page, tmp_path):
    if shutil.which("jq") is None:
        pytest.skip("no jq")
    visits = list(crawl_of_pages(150))
    copies = [page(f"http://copy.example/{n}", duplicate_of=visits[0].url, relevance=0.25) for n in range(4)]
    folder = write_crawl(tmp_path / "crawl", [*visits, *copies, copies[0]])
    write_report(folder)
    counted = 0
    for number in json.loads((folder / "report.json").read_text())["numbers"]:
        if number["again"] and number["anchor"] != "relevance":
            out = subprocess.run(
                number["again"], shell=True, cwd=folder, capture_output=True, text=True, check=True
            ).stdout
            assert float(out) == number["value"], number["name"]
            counted += 1
    assert counted >= 5


def test_the_lines_of_failures_are_those_of_the_history(write_crawl, crawl_of_pages, tmp_path):
    visits = list(crawl_of_pages(100))
    folder = write_crawl(tmp_path / "crawl", visits)
    write_report(folder)
    found = json.loads((folder / "report.json").read_text())
    assert found["failures"]
    for kind, lines in found["failures"].items():
        assert lines["count"] == len(lines["lines"]) > 0
        assert all((visits[line - 1].error or f"http {visits[line - 1].status}") == kind for line in lines["lines"])
    for best in found["best"]:
        assert visits[best["line"] - 1].url == best["url"]
    assert sum(host["pages"] for host in found["hosts"]) == 100


def test_duplicates_spam_blocks_and_rules_are_reported(report_of, page, tmp_path):
    first = page("http://a.example/", title="First")
    visits = [
        first,
        page("http://b.example/", duplicate_of=first.url),
        page("http://spam.example/", spam=0.93, title="Casino", signs={"hidden": 0.9, "clique": 0.7}),
        page("http://wall.example/", md5="", error="block/captcha", signs={"retry_after": 60.0}),
        page("http://wall.example/2", at=1100.0, md5="", error="block/captcha"),
        page("http://slow.example/", signs={"crawl_delay": 20.0}),
        page("http://slow.example/2", at=1030.0, signs={"crawl_delay": 20.0}),
    ]
    rule = {"version": 1, "rule": "a.example param view", "event": "confirmed", "for": 12, "against": 0, "examples": []}
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / "rules.jsonl").write_text(json.dumps(rule) + "\n")
    report = report_of(
        visits, refused={"counts": {"host/given_up": 2}, "samples": {}}, settings={"politeness_min_delay": 1}
    )
    assert "1 of 5 stored pages have the same text as an earlier page, so their links came last. line 2" in report.words
    assert "a.example param view holds 12 0" in report.words
    assert "0.93 Casino line 3 clique 0.70, hidden 0.90" in report.words
    assert "1 page belongs to sites in the neighbourhood of a link farm (sign clique). line 3" in report.words
    assert "wall.example 2 1 2 0" in report.words and "2 of their URLs were refused" in report.words
    assert "1 host asks for a Crawl-delay; the longest is 20.0 s" in report.words
    assert "1 reply asked for a longer pause" in report.words
