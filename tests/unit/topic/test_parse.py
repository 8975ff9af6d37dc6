"""The topic file: its permitted content, and the one message for an invalid file."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.archives import shared_data

from crawlproject.errors import BadTopic
from crawlproject.records import Topic
from crawlproject.topic.parse import load_topic, parse_topic

MINIMAL = 'keywords = "solar power"\nseeds = ["http://example.org"]\n'


def test_a_minimal_topic_takes_its_name_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "sun.far.toml"
    path.write_text(MINIMAL)
    assert load_topic(path) == Topic(name="sun.far", keywords=("solar power",), seeds=("http://example.org/",))


def test_every_field(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<p>sun")
    text = """
        name = "sun"
        keywords = ["solar  power", "Photovoltaics", "photovoltaics", " ", "-"]
        seeds = ["HTTP://Example.org", "http://example.org/index.html", "http://b.example/?utm_source=x"]
        language = "de"
        description = "Electricity from the sun."
        targets = ["http://example.org/%7Ea", "http://example.org/~a"]
        [examples]
        positive = ["http://example.org/b#c", "page.html"]
        negative = ["http://example.org/d"]
        [crawl]
        ORDERING = "dom"
        FRONTIER_BATCH_SIZE = 5
        POLITENESS_MIN_DELAY = 0.5
        TRAP_EXTENSIONS = ["pdf"]
    """
    assert parse_topic(text, "other.toml", tmp_path) == Topic(
        name="sun",
        keywords=("solar power", "Photovoltaics"),
        seeds=("http://example.org/", "http://b.example/"),
        language="de",
        description="Electricity from the sun.",
        targets=("http://example.org/~a",),
        positive=("http://example.org/b", str(tmp_path / "page.html")),
        negative=("http://example.org/d",),
        settings={"ORDERING": "dom", "FRONTIER_BATCH_SIZE": 5, "POLITENESS_MIN_DELAY": 0.5, "TRAP_EXTENSIONS": ["pdf"]},
    )


def test_keywords_may_be_one_string_with_commas() -> None:
    topic = parse_topic('keywords = "sun, solar power,Sun"\nseeds = ["http://a"]', "t.toml")
    assert topic.keywords == ("sun", "solar power")


def test_example_files_are_taken_as_written_without_a_folder() -> None:
    assert parse_topic(MINIMAL + '[examples]\npositive = ["a.html"]', "t.toml").positive == ("a.html",)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["keywords: is missing", "keywords = [", "seeds: is missing", "seeds = ["]),
        ('keywords = []\nseeds = ["http://a"]', ["keywords: name at least one word"]),
        ('keywords = " , -"\nseeds = ["http://a"]', ["keywords: name at least one word"]),
        ('keywords = ["a", 1]\nseeds = ["http://a"]', ["keywords[1]: must be text in quotes"]),
        ('keywords = 5\nseeds = ["http://a"]', ["keywords: must be a list of texts"]),
        ('keywords = "a"\nseeds = []', ["seeds: name at least one URL"]),
        ('keywords = "a"\nseeds = "http://a"', ["seeds: must be a list"]),
        ('keywords = "a"\nseeds = ["http://a", "b", "ftp://c"]', ["seeds[1]: 'b' is not a URL", "seeds[2]: 'ftp://c'"]),
        (MINIMAL + 'targets = ["x"]', ["targets[0]: 'x' is not a URL"]),
        (MINIMAL + 'keyword = "b"', ["keyword: no such field; did you mean keywords?"]),
        (MINIMAL + "zzz = 1", ["zzz: no such field; there are keywords, seeds, name,"]),
        (MINIMAL + 'language = "english"', ["language: 'english' is not the code", "'en'"]),
        (MINIMAL + 'language = "../.."', ["language: '../..' is not the code"]),
        (MINIMAL + "description = 1", ["description: must be text in quotes"]),
        (MINIMAL + 'name = "a/b"', ["name: 'a/b' must be valid as the name of a folder"]),
        (MINIMAL + 'name = ""', ["name: '' must be valid as the name of a folder"]),
        (MINIMAL + "examples = 1", ["examples: must be a table"]),
        (MINIMAL + "[examples]\npositiv = []", ["examples.positiv: no such field; did you mean positive?"]),
        (MINIMAL + '[examples]\nnegative = ["none.html"]', ["examples.negative[0]: 'none.html' is neither"]),
        (MINIMAL + '[examples]\nnegative = ["http://a b"]', ["examples.negative[0]: 'http://a b' is not a URL"]),
        (MINIMAL + "crawl = 1", ["crawl: must be a table of settings"]),
        (MINIMAL + '[crawl]\nordering = "dom"', ["crawl: ordering must be in capitals: ORDERING"]),
        (MINIMAL + "[crawl]\nDOWNLOAD_DELAY = 1", ["crawl: DOWNLOAD_DELAY cannot be set for a topic", "TRAP_"]),
        (MINIMAL + "[crawl]\nTRAP_ = 1", ["crawl: TRAP_ cannot be set for a topic"]),
        (MINIMAL + "[crawl]\nPAGE_X = 2020-01-01", ["crawl: PAGE_X must be text, a number"]),
        (MINIMAL + "x = ", ["t.toml: line 3: not TOML"]),
        (MINIMAL + 'seeds = ["http://b"]', ["line 3: not TOML"]),
        ('keywords = "a\n' + MINIMAL, ["line 1, column 14: not TOML"]),
        (MINIMAL + "x = \ny = yes", ["line 3, column 5: not TOML", "; line 4, column 5: not TOML"]),
        (MINIMAL + "x = \ntargets = ['b']", ["line 3, column 5: not TOML", "; line 4, targets[0]: 'b' is not a URL"]),
        (MINIMAL + "x = [\ny = yes", ["line 4, column 1: not TOML"]),
        (MINIMAL + 'targets = ["http://a",\n  "x"]\nname = ""', ["line 4, targets[1]: 'x'", "line 5, name: ''"]),
        ("[crawl]\nA = 1\nB = 2\n", ["line 2, crawl: A cannot", "; line 3, crawl: B cannot", "keywords: is missing"]),
        (MINIMAL + "# name = 1\nzzz = 1\n[examples]\nname = 1", ["line 4, zzz: no such", "line 6, examples.name: no"]),
        (MINIMAL + "x = " + "[" * 100_000, ["nested too deep"]),
        (
            MINIMAL + 'nme = "y"\n[crawl]\nCRAWL_MAX_PAGES = "many"\nPOLITENESS_FACTOR = -1\nPAGE_MAX_BYTE = 3',
            [
                "line 3, nme: no such field",
                "line 5, crawl: CRAWL_MAX_PAGES must be a valid integer",
                "line 6, crawl: POLITENESS_FACTOR must be greater than or equal to 0, not -1",
                "line 7, crawl: there is no setting PAGE_MAX_BYTE; did you mean PAGE_MAX_BYTES?",
            ],
        ),
        (
            MINIMAL + 'crawl."CRAWL_MAX_PAGES" = -1\nexamples = { positive = ["no.html"], nagative = [] }',
            ["line 3, crawl: CRAWL_MAX_PAGES", "line 4, examples.positive[0]: 'no.html'", "line 4, examples.nagative"],
        ),
        (MINIMAL + "[examples.more]\nx = 1\n[other.sub]", ["line 3, examples.more: no", "line 5, other: no such"]),
    ],
)
def test_a_wrong_text_is_one_message_with_file_field_and_wish(text: str, parts: list[str], tmp_path: Path) -> None:
    with pytest.raises(BadTopic) as error:
        parse_topic(text, "topics/t.toml", tmp_path)
    message = str(error.value)
    assert error.value.place == "topics/t.toml" and message.startswith("topics/t.toml: ")
    assert "\n" not in message
    for part in parts:
        assert part in message
    for jargon in ("pydantic", "Value error", "Input should", "valid dictionary"):
        assert jargon not in message


def test_a_fault_of_the_whole_text_is_told_once() -> None:
    with pytest.raises(BadTopic) as error:
        parse_topic('keywords = ["sun"\nseeds = []\n', "t.toml")
    assert str(error.value).count("not TOML") == 1 and "t.toml: line 2, column 1: not TOML" in str(error.value)


def test_a_long_list_of_mistakes_is_cut() -> None:
    with pytest.raises(BadTopic, match=r"targets\[4\].*; and 95 more$") as error:
        parse_topic(MINIMAL + f"targets = {['x'] * 100}", "t.toml")
    assert "targets[5]" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "part"),
    [(b"keywords = '\xff'", "must be UTF-8 text; byte 12 is not"), (None, "cannot be read: No such file")],
)
def test_a_file_that_cannot_be_read(content: bytes | None, part: str, tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadTopic) as error:
        load_topic(path)
    assert str(path) in str(error.value) and part in str(error.value)


@pytest.mark.parametrize("path", [".", "a\0b"])
def test_a_path_that_is_no_file(path: str) -> None:
    with pytest.raises(BadTopic, match="cannot be read"):
        load_topic(path)


def test_a_byte_order_mark_and_windows_lines_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_bytes(b"\xef\xbb\xbf" + MINIMAL.replace("\n", "\r\n").encode())
    assert load_topic(path).keywords == ("solar power",)


@pytest.mark.realweb
def test_the_topics_of_the_archived_webs() -> None:
    paths = sorted(shared_data("").glob("*/topics/*.toml"))
    assert paths
    for path in paths:
        topic = load_topic(path)
        assert topic.name == path.name.removesuffix(".toml")
        assert topic.keywords and topic.seeds and topic.targets


def test_a_folder_of_examples_is_all_its_pages_at_any_depth(tmp_path: Path) -> None:
    for name in ("sea/reef/b.html", "sea/a.TXT", "sea/reef/notes.pdf"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "empty").mkdir()
    topic = parse_topic(MINIMAL + '[examples]\npositive = ["sea", "sea/a.TXT"]', "t.toml", tmp_path)
    assert topic.positive == (str(tmp_path / "sea" / "a.TXT"), str(tmp_path / "sea" / "reef" / "b.html"))
    with pytest.raises(BadTopic, match=r"'empty' is a folder without files of \.htm, \.html"):
        parse_topic(MINIMAL + '[examples]\npositive = ["empty"]', "t.toml", tmp_path)


def test_a_topic_file_names_a_judge_but_no_code() -> None:
    head = 'keywords = ["a"]\nseeds = ["http://a.example/"]\n[crawl]\n'
    assert parse_topic(head + 'TOPIC_RELEVANCE = "examples"', "t.toml").settings == {"TOPIC_RELEVANCE": "examples"}
    with pytest.raises(BadTopic, match="TOPIC_RELEVANCE must be the name of a judge: module:Class is code"):
        parse_topic(head + 'TOPIC_RELEVANCE = "this:Judge"', "t.toml")


@pytest.mark.parametrize(
    "line",
    [
        'CRAWL_BROWSER = "./browser"',
        'CRAWL_CHANGE_HOOK = "touch /tmp/x"',
        'CRAWL_METRICS_FILE = "/home/ann/.profile"',
        'CRAWL_MIRROR = "s3://bucket/crawl"',
        'CRAWL_CLOAKING_PROXY = "http://b.example:3128"',
        """CRAWL_SITE_TEMPLATES = '{"a.example": "this.x"}'""",
    ],
)
def test_a_topic_file_runs_nothing_and_sends_nothing_elsewhere(line: str) -> None:
    head = 'keywords = ["a"]\nseeds = ["http://a.example/"]\n[crawl]\n'
    with pytest.raises(BadTopic, match=f"line 4, crawl: {line.partition(' ')[0]}: a topic file must not set it"):
        parse_topic(head + line, "t.toml")
