"""The fields that are filled, the requests that a browser would send, and the content of result pages."""

from __future__ import annotations

import time

import pytest
from support.pages import ANALYZER

from crawlproject.pages.html.forms import Form, read_forms
from crawlproject.pages.reader import Reader
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.forms.candidates import SurfaceWords
from crawlproject.parts.forms.fields import ValueTable, address, choices, labelled_values, roles_of
from crawlproject.parts.forms.result_page import read_results
from crawlproject.urls.canonical import Canonicalizer


def form(html: str) -> Form:
    return read_forms(f"<form action=/find?old=1>{html}</form>".encode(), "http://a.example/")[0]


BOOKS = form(
    "<label>Author <input name=a></label><label>Keywords <input name=k></label><label>Title <input name=t></label>"
    "<label>Genre <select name=g><option value=''>All genres<option>Crime<option value=2>Poetry</select></label>"
    "<select name=sort><option>date<option>price</select><label>Price from <input name=min></label>"
    "<select name=lang><option>en<option>de</select><input type=hidden name=site value=3><input type=checkbox name=used>"
    "<input type=submit name=go value=Search>"
)


def test_each_field_has_a_role() -> None:
    roles = roles_of(BOOKS)
    assert roles == {
        "a": "attribute",
        "k": "keyword",
        "t": "fixed",  # it would ask for the same words once more
        "g": "category",
        "sort": "fixed",
        "min": "fixed",
        "lang": "fixed",
        "site": "fixed",
        "used": "fixed",
    }


def test_a_lonely_field_takes_any_word_unless_menus_say_what_it_is() -> None:
    assert roles_of(form("<input name=xyz><input type=submit value=Search>"))["xyz"] == "keyword"
    menu = "<label>Town <select name=town><option>A<option>B</select></label>"
    assert roles_of(form(f"{menu}<label>Owner <input name=o></label>"))["o"] == "attribute"


def test_a_menu_asks_for_its_options_but_not_for_all() -> None:
    assert choices(BOOKS.fields[3]) == {"Crime": "Crime", "2": "Poetry"}


def test_the_url_is_the_one_of_a_browser() -> None:
    assert (
        address(BOOKS, {"a": "J. Ö"})
        == "http://a.example/find?a=J.+%C3%96&k=&t=&g=&sort=date&min=&lang=en&site=3&go=Search"
    )


def test_hidden_fields_and_boxes_of_one_name_are_all_sent() -> None:
    hidden = "".join(f"<input type=hidden name=in value={place}>" for place in ("books", "maps", "books"))
    boxes = "".join(f"<input type=checkbox name=of value={year} checked>" for year in (1998, 1999))
    searched = form(f"{hidden}{boxes}<input type=checkbox name=of value=2000><input type=search name=q>")
    assert address(searched, {"q": "reef"}).partition("?")[2] == "in=books&in=maps&of=1998&of=1999&q=reef"


@pytest.mark.parametrize(
    ("page", "accepts", "query"),
    [("gbk", "", "%BA%A3"), ("utf-8", "", "%E6%B5%B7"), ("gbk", "x,utf-8", "%E6%B5%B7"),
     ("utf-8", "euc-jp", "%B3%A4"), ("latin-1", "", "%26%2328023%3B")],
)  # fmt: skip
def test_the_words_are_in_the_encoding_of_the_form(page: str, accepts: str, query: str) -> None:
    body = f"<form action=/find accept-charset='{accepts}'><input name=q></form>".encode(page)
    read = read_forms(body, "http://a.example/", f"text/html; charset={page}")[0]
    assert address(read, {"q": "海"}) == f"http://a.example/find?q={query}"


def test_an_unfilled_menu_asks_for_all_whatever_it_shows_first() -> None:
    chosen = form("<select name=g><option>Crime<option selected>Poetry<option value=x>Any genre</select>")
    assert address(chosen, {}) == "http://a.example/find?g=x"


def test_values_stand_under_the_labels_of_the_form() -> None:
    text = "Reefs\nAuthor: Ann Coe | Year: 1990\nAuthors\nBo Dee\nGenre\n\nPoetry\nAuthority: nobody\nThe author: I"
    found = list(labelled_values(text, {"a": "author", "g": "genre", "y": "year"}))
    assert sorted(found) == [("a", "Ann Coe"), ("a", "Bo Dee"), ("g", "Poetry"), ("y", "1990")]


def test_white_space_behind_a_label_costs_nothing() -> None:
    began = time.process_time()
    for text in (f"Author:{' ' * 100_000}x{'y' * 100}", f"Author:{' ' * 5_000}{'a ' * 5_000}", "Author:\n \n" * 5_000):
        list(labelled_values(text, {"a": "author"}))
    assert time.process_time() - began < 1.0


def test_the_table_of_values_knows_the_frequent_ones_first() -> None:
    table = ValueTable()
    for value in ("b", "a", "a"):
        table.add("author", value)
    assert table.values("author") == ["a", "b"] and table.values("title") == []


def test_terms_are_asked_for_as_words() -> None:
    words = SurfaceWords(ANALYZER)
    words.learn("Divers dive. A diver dives, and divers dive, the diver dives deep. Divers!")
    assert words.word(ANALYZER.terms("divers")[0]) == "divers"
    assert words.word("nobody") == "" == words.word("the")


READER = Reader(ANALYZER, canonicalize=Canonicalizer(), tag_paths=False)
JUDGE = TopicJudge(("coral reef",), ANALYZER)


def results(body: str, url: str = "http://a.example/find?q=coral", number: int = 1):
    page = READER.read(url, body.encode())
    return read_results(page, {"http://a.example/home"}, JUDGE, number=number)


def test_items_are_what_is_listed_with_the_words_up_to_the_next() -> None:
    found = results(
        "<a href=/home>Home</a><ol><li><a href=/1>Coral reef</a> pale polyps <a href=/1>more</a></li>"
        "<li><a href=/2>Steam engines</a> boiler</li></ol><a href='/find?q=coral&sort=date'>by date</a>"
    )
    assert [item.url for item in found.items] == ["http://a.example/1", "http://a.example/2"]
    first, second = found.items
    assert {"coral", "reef", "pale"} <= set(first.terms) and "boiler" not in first.terms and "boiler" in second.terms
    assert first.relevance > 0.5 and second.relevance == 0 and not found.following


def test_the_next_page_is_found_by_its_words_or_its_number() -> None:
    item = "<a href=/1>One</a>"
    assert (
        results(f"{item}<a href='/find?q=coral&page=2'>Next &raquo;</a>").following
        == "http://a.example/find?page=2&q=coral"
    )
    assert results(f"{item}<a href='/find?q=coral&start=10'>2</a><a href='/find?q=coral&start=20'>3</a>").following == (
        "http://a.example/find?q=coral&start=10"
    )
    second = "http://a.example/find?q=coral&page=2"
    assert results(f"{item}<a href='/find?q=coral&page=3'>3</a>", second, 2).following.endswith("page=3&q=coral")
    for other in ("q=reef&page=2", "q=coral&sort=price", "q=coral&page=2&sort=1"):
        assert not results(f"{item}<a href='/find?{other}'>Next</a>").following


def test_a_page_without_links_lists_nothing() -> None:
    assert results("<p>No results").items == ()
