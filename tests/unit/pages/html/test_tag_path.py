"""The tag path of a link: its place in the template."""

from __future__ import annotations

from crawlproject.pages.html.document import MAX_PATH
from crawlproject.pages.html.parse import parse_document


def paths(body: str) -> list[str]:
    document = parse_document(f"<html><body>{body}</body></html>".encode())
    return [link.tag_path for link in document.links]


def test_names_every_element_from_the_root() -> None:
    assert paths("<div><ul><li><a href='/x'>x</a></li></ul></div>") == ["html body div ul li a"]


def test_items_of_one_list_share_their_path_and_other_places_do_not() -> None:
    menu, first, second = paths("<p><a href='/m'>m</a></p><ul><li><a href='/1'>1</a><li><a href='/2'>2</a></ul>")
    assert first == second == "html body ul li a"
    assert menu == "html body p a"


def test_ids_and_classes_count_numbers_in_them_do_not() -> None:
    one, two = paths(
        "<h2 id='post-17' class='b a'><a href='/1'>1</a></h2><h2 id='post-4' class='a b'><a href='/2'>2</a></h2>"
    )
    assert one == two == "html body h2#post-0.a.b a"


def test_a_deep_path_keeps_its_inner_end() -> None:
    (path,) = paths("<div class='wrapper'>" * 200 + "<a href='/x'>x</a>")
    assert len(path) <= MAX_PATH
    assert path.endswith("div.wrapper a")


def test_no_paths_are_made_when_nobody_reads_them() -> None:
    body = b"<html><body><ul><li><a href='/1'>1</a></ul><a href='/2'>2</a></body></html>"
    with_paths, without = parse_document(body), parse_document(body, tag_paths=False)
    assert [link.tag_path for link in without.links] == ["", ""]
    assert [link._replace(tag_path="") for link in with_paths.links] == list(without.links)
