"""Topics from a web directory (papers 001 section 2.1, 003 section 3)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random

import pytest

from crawlproject.errors import BadInput
from crawlproject.topic.directory import DirectoryEntry, categories, neighbours, read_directory, topic_of

RDF = """<?xml version="1.0" encoding="UTF-8"?>
<RDF xmlns:r="http://www.w3.org/TR/RDF/" xmlns:d="http://purl.org/dc/elements/1.0/" xmlns="http://dmoz.org/rdf/">
<Topic r:id="Top/Recreation/Ballooning"><catid>1</catid><link r:resource="http://a.example/"/></Topic>
<ExternalPage about="http://a.example/"><d:Title>A</d:Title><d:Description>Hot  air.</d:Description>
<topic>Top/Recreation/Ballooning</topic></ExternalPage>
<ExternalPage r:about="http://b.example/"><d:Title>B</d:Title><topic>Top/Recreation/Ballooning/Clubs</topic></ExternalPage>
</RDF>"""
OPML = """<opml version="2.0"><body><outline text="Recreation"><outline title="Ballooning">
<outline text="A" htmlUrl="http://a.example/" description="Hot air."/><outline text="B" type="link" url="http://b.example/"/>
</outline></outline></body></opml>"""
JSON = {
    "name": "Recreation",
    "children": [
        {
            "name": "Ballooning",
            "links": [{"url": "http://a.example/", "title": "A", "description": "Hot air."}, "http://b.example/"],
        }
    ],
}
BALLOONING = ("Recreation", "Ballooning")


def test_the_dump_of_the_open_directory_is_read_packed_or_not(tmp_path: Path) -> None:
    expected = [
        DirectoryEntry(("Top", *BALLOONING), "http://a.example/", "A Hot air."),
        DirectoryEntry(("Top", *BALLOONING, "Clubs"), "http://b.example/", "B"),
    ]
    (tmp_path / "content.rdf.u8").write_text(RDF)
    (tmp_path / "content.rdf.u8.gz").write_bytes(gzip.compress(RDF.encode()))
    assert list(read_directory(tmp_path / "content.rdf.u8")) == expected
    assert list(read_directory(tmp_path / "content.rdf.u8.gz")) == expected


@pytest.mark.parametrize("text", [OPML, json.dumps(JSON), json.dumps([JSON])])
def test_opml_and_json_are_nested_categories(tmp_path: Path, text: str) -> None:
    (tmp_path / "dump").write_text(text)
    first, second = read_directory(tmp_path / "dump")
    assert first == DirectoryEntry(BALLOONING, "http://a.example/", "A Hot air.")
    assert second[:2] == (BALLOONING, "http://b.example/")


@pytest.mark.parametrize(
    "text",
    ["", "<opml><body>", '{"links": []}', '{"name": "x", "links": 3}', "[1]", "{", '{"name": "x", "children": [' * 100_000,
     '<?xml version="1.0" encoding="klingon"?><opml/>'],
)  # fmt: skip
def test_what_is_no_directory_is_one_message(tmp_path: Path, text: str) -> None:
    (tmp_path / "dump").write_text(text)
    with pytest.raises(BadInput, match="dump: expected a directory in RDF, OPML or JSON"):
        list(read_directory(tmp_path / "dump"))
    with pytest.raises(BadInput, match="cannot be read"):
        list(read_directory(tmp_path / "none"))


def test_a_packed_directory_with_other_bytes_is_one_message(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(RDF.encode() * 1000))
    packed[20] ^= 255
    (tmp_path / "dump.gz").write_bytes(packed)
    with pytest.raises(BadInput, match="cannot be read"):
        list(read_directory(tmp_path / "dump.gz"))


def listings(*category: str, count: int = 3) -> list[DirectoryEntry]:
    return [DirectoryEntry(category, f"http://{number}.example", f"Text {number}.") for number in range(count)]


def test_categories_are_chosen_as_in_paper_003() -> None:
    found = [
        *listings("Top", "Business", "Chemical_Companies"),
        *listings("Top", "Business", "Chemical_Companies"),  # each URL once
        *listings("Top", "Regional", "Companies"),
        *listings("Top", "Business", "News"),
        *listings("Top", "Arts", "Companies", count=2),
        DirectoryEntry(("Top", "Business", "Chemical_Companies"), "mailto:x"),
    ]
    chosen = categories(found, ending=["Companies"], without=["Regional"], least=3)
    assert list(chosen) == [("Top", "Business", "Chemical_Companies")]
    assert [listing.url for listing in chosen["Top", "Business", "Chemical_Companies"]] == [
        f"http://{number}.example/" for number in range(3)
    ]
    assert len(categories(found, least=3)) == 3


def test_leaves_have_no_categories_below_them() -> None:
    """001 section 2.1: of an inner node with five links, a leaf with five and a leaf with four, only one is a topic."""
    found = [
        *listings("Top", "Recreation", count=5),
        *listings("Top", "Recreation", "Ballooning", count=5),
        *listings("Top", "Recreation", "Kites", count=4),
    ]
    assert list(categories(found, least=5, leaves=True)) == [("Top", "Recreation", "Ballooning")]
    assert list(categories(found, least=5)) == [("Top", "Recreation"), ("Top", "Recreation", "Ballooning")]


def test_a_category_is_split_into_seeds_and_targets() -> None:
    """003 section 3: keywords are the tokens of the name without the most general category; descriptions are joined."""
    draft = topic_of(("Top", "Business", "Arts & Crafts", "Glass_Companies"), listings("x", count=25), Random(1))
    assert (draft.keywords, draft.name) == (["Arts Crafts", "Glass Companies"], "arts-crafts-glass-companies")
    assert (len(draft.seeds), len(draft.targets)) == (10, 15) and not set(draft.seeds) & set(draft.targets)
    assert draft.description == " ".join(f"Text {number}." for number in range(25))
    assert draft == topic_of(
        ("Top", "Business", "Arts & Crafts", "Glass_Companies"), listings("x", count=25), Random(1)
    )


def test_neighbours_lead_to_an_example_in_so_many_links() -> None:
    """001 section 2.1: the in-links of the examples, and the in-links of those."""
    sources = {"a": ["b", "c"], "b": ["d", "a"], "d": ["e"]}
    assert neighbours(["a"], sources, Random(1), distance=1) == ["b", "c"]
    assert neighbours(["a"], sources, Random(1)) == ["b", "c", "d"]
    assert len(neighbours(["a"], sources, Random(1), most=2)) == 2
    assert neighbours(["x"], sources, Random(1)) == []
    assert neighbours(["a"], sources, Random(1), exactly=True) == ["d"], "b and c are one link away"
    both = {**sources, "c": ["b"]}
    assert neighbours(["a"], both, Random(1), exactly=True) == ["b", "d"], "b is an in-link of the in-link c, too"
