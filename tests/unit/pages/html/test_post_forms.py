"""Forms sent by POST are queries only if that is certain."""

from __future__ import annotations

import pytest

from crawlproject.pages.html.form_kinds import (
    SEARCH_FORMS,
    TOKEN_FORMS,
    is_plain_post,
    is_query,
    is_search,
    wants_token,
)
from crawlproject.pages.html.forms import Form, read_forms
from crawlproject.pages.reader import Reader
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.urls.canonical import Canonicalizer

URL = "http://a.example/page"
SEARCH = "<input name=q><button>Search</button>"


def form(inner: str, action: str = "/find", more: str = "") -> Form:
    html = f'<form method=post action="{action}" {more}>{inner}</form>'
    (found,) = read_forms(html.encode(), URL)
    return found


QUERIES = {
    "search box": form(SEARCH),
    "by its type": form("<input type=search name=s><button>Go</button>", "/s"),
    "by its action": form("<input name=q><button>OK</button>", "/search.php"),
    "another language": form("<input name=q><button>Suchen</button>", "/liste"),
    "bookshop": form(
        "<label>Author <input name=author></label><label>Publisher <input name=publisher></label>"
        "<select name=genre><option>Novels<option>Poetry</select><button>Find books</button>"
    ),
    "fixed fields": form(f"<input type=hidden name=lang value=en><input type=hidden name=op value=search>{SEARCH}"),
    "a path": form(f"<input type=hidden name=index value=/mnt/linc/ftp1/pub/cs2>{SEARCH}"),
    "words with numbers": form(f"<input type=hidden name=where value=search_theme_form2>{SEARCH}"),
    "dates": form(f"<label>Created after <input type=date name=after></label>{SEARCH}"),
    "as browsers do without saying": form(SEARCH, more="enctype=application/x-www-form-urlencoded"),
}
NO_QUERIES = {
    "nothing says so": form("<input name=title><button>OK</button>", "/x"),
    "a title and a text": form("<input name=title><input name=text><button>Submit</button>", "/entries"),
    "any button of some browsers": form("<input name=entry><input type=submit value='Submit Query'>", "/cgi-bin/x.cgi"),
    "the address says post": form(SEARCH, "/cgi-bin/post-query"),
    "adds": form("<input name=q placeholder='Search tags'><button>Add</button>"),
    "posts": form("<input name=q placeholder='Search'><button>Post</button>"),
    "votes": form("<select name=find><option>yes<option>no</select><button>Vote</button>"),
    "another language": form("<input type=search name=q><button>Löschen</button>"),
    "another script": form("<input type=search name=q><button>送信</button>"),
    "a hidden verb": form(f"<input type=hidden name=op value=deleteAll>{SEARCH}"),
    "a hidden name": form(f"<input type=hidden name=save_search value=1>{SEARCH}"),
    "a hidden person": form(f"<input type=hidden name=user_id value=7>{SEARCH}"),
    "the button's name": form("<input type=search name=q><button name=remove value=1>Search</button>"),
    "the address": form(SEARCH, "/find?do=update"),
    "a box to tick": form(f"<label><input type=checkbox name=n> Subscribe me</label>{SEARCH}"),
    "a file's encoding": form(SEARCH, more="enctype=multipart/form-data"),
    "plain text": form(SEARCH, more="enctype=text/plain"),
    "a password": form(f"<input type=password name=p>{SEARCH}"),
    "mail": form(f"<input type=email name=m>{SEARCH}"),
    "a text area": form(f"<textarea name=t></textarea>{SEARCH}"),
    "a file": form(f"<input type=file name=f>{SEARCH}"),
    "login": form(SEARCH, "/login"),
    "payment": form(f"<input name=card_number>{SEARCH}"),
}
TOKENS = {
    "by name": "<input type=hidden name=csrf_token value=1>",
    "Rails": "<input type=hidden name=authenticity_token value=x>",
    "camel case": "<input type=hidden name=requestVerificationToken value=x>",
    "ASP.NET": "<input type=hidden name=__VIEWSTATE value='/wEPDwUKLTM='>",
    "Drupal": "<input type=hidden name=form_build_id value=form-1>",
    "WordPress": "<input type=hidden name=_wpnonce value=1>",
    "by value": "<input type=hidden name=x value=9f86d081884c7d659a2feaa0c55ad015>",
    "an identifier": "<input type=hidden name=x value=3f2504e0-4f89-11d3-9a0c-0305e82c3301>",
    "a time": "<input type=hidden name=x value=1732330000>",
    "Joomla": "<input type=hidden name=9541bcc28a10bcd72b0d15738598051d value=1>",
    "Joomla, for no robot": "<input name=9541bcc28a10bcd72b0d15738598051d>",
    "base64": "<input type=hidden name=x value='q83vEjRWeJCrze8SNFZ4kA=='>",
    "too long to know": f"<input type=hidden name=x value='{'word ' * 60}'>",
}


@pytest.mark.parametrize("found", QUERIES.values(), ids=QUERIES)
def test_plain_searches_are_queries(found: Form) -> None:
    assert is_query(found) and not wants_token(found)


@pytest.mark.parametrize("found", NO_QUERIES.values(), ids=NO_QUERIES)
def test_a_form_in_doubt_is_no_query(found: Form) -> None:
    assert not is_query(found) and not wants_token(found)


@pytest.mark.parametrize("hidden", TOKENS.values(), ids=TOKENS)
def test_a_form_with_a_one_time_token_is_not_asked_and_the_page_says_so(hidden: str) -> None:
    found = form(hidden + SEARCH)
    assert is_plain_post(found) and wants_token(found) and not is_query(found)
    reader = Reader(Analyzer("en"), canonicalize=Canonicalizer(), forms=True)
    page = reader.read(URL, f"<form method=post action=/find>{hidden}{SEARCH}</form>".encode())
    assert page.signs[TOKEN_FORMS] == 1.0 and SEARCH_FORMS not in page.signs


def test_a_token_in_a_form_that_is_no_query_is_nothing_to_tell() -> None:
    assert not wants_token(form("<input type=hidden name=csrf value=1><input name=title><button>Save</button>", "/x"))


def test_a_form_that_is_sent_by_get_is_judged_as_before() -> None:
    (found,) = read_forms(b"<form action=/x><input name=q><input type=hidden name=token value=1></form>", URL)
    assert is_query(found) and is_search(found)
