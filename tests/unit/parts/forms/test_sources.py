"""The choice of forms as sources, and how an answer is assigned to its source."""

from __future__ import annotations

from functools import partial
from time import process_time
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.deep_web import Lab
from benchmarks.deep_web_sites import DeepSite
from crawlproject.pages.html.forms import read_forms
from crawlproject.parts.forms.fields import Query
from crawlproject.parts.forms.selection import make_selection
from crawlproject.parts.forms.sources import Sources
from crawlproject.urls.post import canonical_request, is_post, post_of

LAB = Lab()
HOME = "http://a.example/"


def sources(limit: int = 9) -> Sources:
    return Sources(
        canonicalize=partial(canonical_request, LAB.canonicalize),
        judge=LAB.judge,
        keywords=("coral reef",),
        limit=limit,
        relevant=0.1,
        selection=partial(make_selection, "relevant_new"),
    )


def found(html: str, home: str = HOME) -> Sources:
    made = sources()
    made.found(home, (), read_forms(html.encode(), home))
    return made


def ask(made: Sources) -> list[Query | None]:
    queries = [source.next() for source in made.ready()]
    for source in made:
        if source.out:
            made.sent(source)
    return queries


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize(
    ("action", "asked"),
    [
        ("http://a.example", True),
        ("//a.example?x=1", True),
        ("http://a.example:99999/s", False),
        ("http://b.example/", False),
    ],
)
def test_whatever_a_form_leads_to_breaks_nothing(method: str, action: str, asked: bool) -> None:
    made = found(f"<form method={method} action='{action}'><input name=q type=search></form>")
    assert len(ask(made)) == asked


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_form_that_is_too_long_to_ask_is_not_asked(method: str) -> None:
    hidden = "".join(f"<input type=hidden name=n{number} value='{'long words ' * 17}'>" for number in range(99))
    made = found(f"<form method={method} action=/s>{hidden}<input name=q type=search></form>")
    assert [query for query in ask(made) if query and len(query.url) > 16_384] == []


@given(st.text(), st.sampled_from(["get", "post"]))
def test_no_action_breaks_the_crawl(action: str, method: str) -> None:
    made = sources()
    quoted = action.replace("&", "&amp;").replace("'", "&#39;")
    forms = read_forms(f"<form method={method} action='{quoted}'><input name=q type=search></form>".encode(), HOME)
    made.found(HOME, (), forms)
    ask(made)


def test_names_and_values_with_a_tab_are_asked_as_they_are() -> None:
    menu = "<select name='k&#9;d'><option value=''>Any<option value='map&#9;x'>Maps<option value='book'>Books</select>"
    made = found(f"<form action=/s>{menu}<input type=submit value=Search></form>")
    urls = []
    while (query := ask(made)[0]) is not None:
        urls.append(query.url)
        made.answered(query.url, HOME, LAB.reader.read(query.url, f"<a href=/{len(urls)}>One</a>".encode()))
    assert urls == [f"{HOME}s?k%09d=map%09x", f"{HOME}s?k%09d=book"]


def test_many_terms_that_nobody_can_ask_for_take_no_time() -> None:
    made = found("<form action=/s><input name=q type=search></form>")
    began = process_time()
    bodies = [b"<p>Nothing.", *(listed(f"a{n}b", 80) for n in range(9))]
    for body in bodies:
        for query in filter(None, ask(made)):
            made.answered(query.url, HOME, LAB.reader.read(query.url, body))
    assert process_time() - began < 10.0


def listed(word: str, items: int) -> bytes:
    """A result page whose items have a hundred terms each, none of them spelled out."""
    said = (" ".join(f"{word}{item}c{n}" for n in range(100)) for item in range(items))
    return "".join(f"<p><a href=/{word}{item}>coral reef</a> {words}" for item, words in enumerate(said)).encode()


def test_many_options_that_are_too_long_to_ask_take_no_time() -> None:
    options = "".join(f"<option>{n:04}{'x' * 40}" for n in range(900))
    menus = "".join(f"<select name=k{n}><option value=''>Any{options}</select>" for n in range(9))
    hidden = "".join(f"<input type=hidden name=h{n} value='{'y' * 2_033}'>" for n in range(8))
    made = found(f"<form action=/s>{hidden}{menus}<input type=submit value=Search></form>")
    assert len(list(made)) == 1
    began = process_time()
    assert ask(made) == [None]
    assert process_time() - began < 10.0


def test_result_pages_with_thousands_of_values_under_labels_take_no_time() -> None:
    entries = "".join(f"<option value={n}>Reef {n}" for n in range(900))
    menu = f"Kind <select name=kind><option value=''>Any{entries}</select>"
    made = found(f"<form action=/s><input name=q type=search> Author <input name=author> {menu}</form>")
    shown = [f"<p><a href=/{n}>coral reef</a><br>Author: ann {n}<br>\nKind: Reef {n}<br>\n" for n in range(9_000)]
    began = process_time()
    for body in ("<p>Nothing", "".join(shown)):
        (query,) = ask(made)
        assert query is not None
        made.answered(query.url, HOME, LAB.reader.read(query.url, body.encode()))
    assert process_time() - began < 20.0


def test_a_link_of_a_thousand_arrows_takes_no_time() -> None:
    made = found("<form action=/s><input name=q type=search></form>")
    links = "".join(f"<a href='/s?q=coral&x={n}'>{'&gt;' * 990}x</a>" for n in range(50))
    began = process_time()
    for body in ("<p>Nothing", links):
        (query,) = ask(made)
        assert query is not None
        made.answered(query.url, HOME, LAB.reader.read(query.url, body.encode()))
    assert process_time() - began < 10.0


@given(st.text(), st.text())
def test_no_query_that_a_link_or_a_redirect_names_breaks_the_crawl(name: str, value: str) -> None:
    made = found(
        "<form action=/s><input name=q type=search><select name=k><option>Any<option>a<option>b</select></form>"
    )
    sent = urlencode([("k", f"\0{value}"), ("q", value), (name, value)], errors="replace")
    made.answered(f"{HOME}s?{sent}", HOME, LAB.reader.read(HOME, b"<a href=/1>One</a>"))
    ask(made)


def test_one_search_on_many_pages_is_one_source_whatever_way_it_is_sent() -> None:
    made = sources()
    for page in ("", "1", "2"):
        for method in ("get", "post"):
            html = f"<form method={method} action=/s><input name=q type=search></form>"
            made.found(f"{HOME}{page}", (), read_forms(html.encode(), HOME))
    assert len(list(made)) == 1


def test_forms_that_post_to_one_script_are_told_apart_by_what_it_is_to_do() -> None:
    made = found("".join(f"<form method=post action='/i.php?in={x}'><input name=q type=search></form>" for x in "ab"))
    queries = ask(made)
    assert [post_of(query.url)[0] for query in queries if query] == [f"{HOME}i.php?in=a", f"{HOME}i.php?in=b"]  # type: ignore[index]


@pytest.mark.parametrize("method", ["get", "post"])
def test_after_a_resume_forms_that_lead_to_one_address_keep_their_answers(method: str) -> None:
    box, menu = "<input name=q type=search>", "<select name=k><option value=''>Any<option>map<option>book</select>"
    html = "".join(f"<form method={method} action=/s>{fields}</form>" for fields in (box, f"{box}{menu}"))
    one, told = found(html), []
    for number in range(3):
        for query in filter(None, ask(one)):
            told.append((query.url, LAB.reader.read(query.url, listed(f"a{number}", number))))
            one.answered(query.url, HOME, told[-1][1])
    other = found(html)
    for url, page in told:
        other.answered(url, HOME, page)
    assert [source.fetches for source in other] == [source.fetches for source in one] == [3, 3]
    assert [source.graph.items for source in other] == [source.graph.items for source in one]


def test_an_answer_counts_for_its_form_also_if_a_rule_has_removed_a_field() -> None:
    made = found("<form action=/s><input name=q type=search><input type=hidden name=from value=top></form>")
    made.answered(f"{HOME}s?q=coral", HOME, LAB.reader.read(f"{HOME}s?q=coral", listed("a", 3)))
    assert [source.fetches for source in made] == [1]


@pytest.mark.parametrize("by_post", [False, True])
@pytest.mark.parametrize("kind", ["search", "advanced", "books", "listing"])
def test_after_a_resume_answers_alone_make_the_same_source(kind: str, by_post: bool) -> None:
    site = DeepSite(f"{kind}.example", kind, 90, posts=by_post)  # type: ignore[arg-type]
    forms = read_forms(site.get(site.home).body, site.home)
    one = sources(limit=30)
    one.found(site.home, (), forms)
    told: list[tuple[str, str]] = []
    for _ in range(14):
        (query,) = ask(one)
        if query is None:
            break
        told.append((query.url, query.parent))
        one.answered(query.url, query.parent, LAB.reader.read(query.url, site.get(query.url).body))
    assert len(told) > 5 and any(map(is_post, (url for url, _ in told))) == by_post
    other = sources(limit=30)
    other.found(site.home, (), forms)
    for url, parent in told:
        other.answered(url, parent, LAB.reader.read(url, site.get(url).body))
    assert all(map(other.is_query, (url for url, _ in told)))
    (before,), (after,) = one, other
    assert after.graph.items == before.graph.items and after.fetches == before.fetches
    assert ask(other) == ask(one)
