"""Forms are read as in a browser, and classified; a form that could change data on a server is never a query."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlproject.pages.html.form_kinds import ADVANCED, LOGIN, OTHER, SEARCH_BOX, SUBSCRIPTION, is_query, kind_of
from crawlproject.pages.html.forms import MAX_FIELDS, MAX_FORMS, MAX_LABEL, MAX_VALUE, Field, Form, Option, read_forms

URL = "http://a.example/dir/page.html"


def forms(html: str) -> tuple[Form, ...]:
    return read_forms(html.encode(), URL)


def form(html: str) -> Form:
    (found,) = forms(html)
    return found


def test_a_form_is_what_a_browser_sends() -> None:
    found = form(
        """<form action="../find#top" method=GET class="Big Search"><h2>Our books</h2>
        <label for=a>Author:</label> <input id=a name=author>
        <label>Title <input type=search name=title value="old"></label>
        <table><tr><td>Genre</td><td><select name=genre><option value="">Any</option><option>Crime<option value=p>Poetry
        </select></td></tr></table>
        <input type=radio name=in value=all checked> Everything <input type=radio name=in value=new> New books
        <input type=checkbox name=used value=1> Used <input type=checkbox name=lent checked> Lent
        <input type=hidden name=page value=1> <input disabled name=gone> <input> <textarea name=notes>a  b</textarea>
        <button name=go value=1>Search</button><input type=reset value=Clear></form>"""
    )
    assert (found.action, found.method) == ("http://a.example/find", "get")
    assert found.hints.split() == ["big", "search", "our", "books"]
    assert (found.submit.strip(), found.button) == ("search", ("go", "1"))
    assert found.fields == (
        Field("author", "text", "", "Author"),
        Field("title", "search", "old", "Title"),
        Field("genre", "select", "", "Genre", (Option("", "Any"), Option("Crime", "Crime"), Option("p", "Poetry"))),
        Field("in", "radio", "all", "", (Option("all", "Everything"), Option("new", "New books"))),
        Field("used", "checkbox", None, "Used"),
        Field("lent", "checkbox", "on", "Lent"),
        Field("page", "hidden", "1"),
        Field("notes", "textarea", "a b", found.fields[7].label),
    )


def test_base_and_controls_outside_their_form_count() -> None:
    found = form('<base href="http://b.example/x/"><form id=f action=go></form><input form=f name=q>')
    assert (found.action, [field.name for field in found.fields]) == ("http://b.example/x/go", ["q"])


def test_without_an_action_a_form_leads_to_its_page() -> None:
    for start in ("<form>", '<base href="/x/"><form action="">', "<base href=/x/><form>"):
        assert form(f"{start}<input name=q></form>").action == URL


def test_what_a_page_may_cost_is_limited() -> None:
    many = forms("<form><input name=q></form>" * (MAX_FORMS + 5))
    assert len(many) == MAX_FORMS
    fields = "".join(f"<input name=f{number}>" for number in range(MAX_FIELDS + 5))
    assert len(form(f"<form>{fields}</form>").fields) == MAX_FIELDS


def test_what_is_sent_is_whole_and_what_is_read_is_short() -> None:
    long = "long " * 100 + "end"
    path = "/" + "collection/" * 25 + "search"
    found = form(
        f"""<base href="{path}"><form action="{path}"><label>{long}<input name="q{long}"></label>
        <input type=hidden name=scope value="{long}"><select name=k><option value="{long}">one<option>{long}:</select>
        <input type=radio name=r value="{long}" checked><button name=b value="{long}">{long}</button></form>"""
    )
    query, scope, menu, radio = found.fields
    assert (found.action, found.button) == (f"http://a.example{path}", ("b", long))
    assert (query.name, scope.value, radio.value, menu.value) == (f"q{long}", long, long, long)
    assert [option.value for option in menu.options] == [long, f"{long}:"]
    assert len(query.label) <= MAX_LABEL and all(len(option.label) <= MAX_LABEL for option in menu.options)
    assert len(found.submit.strip()) <= MAX_LABEL


def test_a_form_that_would_send_too_much_is_no_query() -> None:
    size = MAX_VALUE - 1
    for method in ("get", "post"):
        start = f"<form method={method} action=/find><input name=q><button>Search</button>"
        assert is_query(form(f"{start}<select name=x><option>{'x' * size}</select></form>"))
        for more in ("<input type=hidden name=x value=x{}>", "<select name=x><option>x{}</select>", "<input name=x{}>"):
            assert not is_query(form(start + more.format("x" * size) + "</form>"))
    assert forms(f"<form action=/{'x' * MAX_VALUE}><input name=q></form>") == ()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "<form",
                " action=//[",
                ">",
                "<input name=q ",
                "type=radio",
                "<select name=s>",
                "<option>",
                "</form>",
                "é\0",
                "<label for=x>",
                "<table><tr>",
                "form=a id=a",
            ]
        ),
        max_size=30,
    )
)
def test_broken_forms_raise_nothing(pieces: list[str]) -> None:
    for found in read_forms("".join(pieces).encode(), URL):
        assert found.method in ("get", "post")
        assert kind_of(found) in (SEARCH_BOX, ADVANCED, LOGIN, SUBSCRIPTION, OTHER)


def test_no_label_takes_long() -> None:
    controls = "".join(f"<input name=q{number}>" for number in range(MAX_FIELDS))
    around = f"<label>{f'<form action=/s>{controls}</form>' * MAX_FORMS}{'<b></b>' * 100_000}</label>"
    nested = f"<form action=/s>{('<label for=a>' * 240 + '</label>' * 240) * 200}</form>"
    began = time.process_time()
    assert len(forms(around)) == MAX_FORMS
    assert len(forms(nested)) == 1
    assert time.process_time() - began < 10.0


def test_the_text_of_a_label_behind_a_long_menu_is_read() -> None:
    menu = f"<select name=s>{'<option>x' * 1000}</select>"
    (field,) = form(f"<form action=/x><label>{menu} State</label></form>").fields
    assert field.label == "State"


QUERIES = {
    "search box": "<form action=/s><input type=search name=q></form>",
    "named q": "<form action=/x><input name=q><input type=submit value=Go></form>",
    "button says so": "<form action=/x><input name=words><button>Suchen</button></form>",
    "role": "<form role=search action=/x><input name=i></form>",
    "another script": '<form action=/x><input name=w><input type=submit value="検索"></form>',
    "book shop": "<form action=/books><input name=author><input name=title><select name=g><option>a<option>b</select>"
    "<input type=submit value='Find books'></form>",
    "filters": "<form action=/flats><select name=town><option>A<option>B</select><select name=rooms><option>1<option>2"
    "</select><button>Show</button></form>",
    "one menu": "<form action=/list><select name=topic><option>A<option>B</select><button>Filter</button></form>",
}
NO_QUERIES = {
    "login": "<form action=/search><input name=q><input type=password name=p></form>",
    "newsletter": "<form action=/news><input name=email placeholder='Search no more: get mail'><button>Go</button></form>",
    "contact": "<form action=/find><input name=subject><textarea name=text></textarea><button>Search</button></form>",
    "upload": "<form action=/search><input type=file name=q></form>",
    "payment": "<form action=/search><input name=card_number><input name=q></form>",
    "checkout": "<form action=/shop/checkout><input name=q type=search></form>",
    "basket": "<form action=/cart?find><input name=s><select name=size><option>1<option>2</select></form>",
    "quantity": "<form action=/items><input name=q><input name=qty></form>",
    "delete": "<form action=/search/delete.php><input type=search name=q></form>",
    "language": "<form action=/go><select name=lang><option>de<option>en</select><button>Search</button></form>",
    "no field": "<form action=/search><button>Search</button></form>",
    "code": "<form action=/redeem><input name=code><button>Redeem</button></form>",
    "comment": "<form action=/post-comment><input name=text><button>Find out</button></form>",
    "mail": "<form action='mailto:a@a.example'><input name=q></form>",
    "phone": "<form action=/search><input type=tel name=q></form>",
    "query language": "<form action=/db/query><input type=hidden name=sql value='select id, name from town where id = :p0'>"
    "<input name=p0><input type=submit value='Run query'></form>",
    "register": "<form action=/register><input name=first_name><input name=q></form>",
}


@pytest.mark.parametrize("html", QUERIES.values(), ids=QUERIES)
def test_searches_are_queries(html: str) -> None:
    assert is_query(form(html))


@pytest.mark.parametrize("html", NO_QUERIES.values(), ids=NO_QUERIES)
def test_what_could_change_something_is_no_query(html: str) -> None:
    assert not is_query(form(html))


def test_the_kinds_have_names() -> None:
    assert kind_of(form(QUERIES["named q"])) == SEARCH_BOX
    assert kind_of(form(QUERIES["book shop"])) == kind_of(form(QUERIES["filters"])) == ADVANCED
    assert kind_of(form(NO_QUERIES["login"])) == LOGIN
    assert kind_of(form(NO_QUERIES["newsletter"])) == SUBSCRIPTION
    assert kind_of(form(NO_QUERIES["contact"])) == OTHER
