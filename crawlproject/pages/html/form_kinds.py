"""What a form is for: a query, or something that a crawler leaves alone.

A decision list over the features of Barbosa and Freire (WebDB 2005, section 3.3): the types of the controls, how the form is
sent, and the words on it. What could change something on a server comes first, so that in doubt a form is no query.
"""

from __future__ import annotations

import re

from crawlproject.pages.html.forms import TEXT_TYPES, Field, Form
from crawlproject.pages.html.post_forms import is_sent_plainly, one_time_token, says_change

SEARCH_BOX = "search"  # one field for free text
ADVANCED = "advanced"  # several fields, or menus
LOGIN = "login"
SUBSCRIPTION = "subscription"
OTHER = "other"

SEARCH_FORMS = "search_forms"  # sign of a page: how many of its forms are queries
TOKEN_FORMS = "token_forms"  # and how many would be, but for a hidden field that is good for one time

# Search, find, look up, filter, in the languages most sites are in.
_SEARCH = re.compile(
    r"search|\bfind(er)?\b|(?<![a-z])quer(y|ies)|look\s?up|keyword|\bfilter\b|\bbrowse\b|\bsuche|durchsuch|\bbusca|\bb[úu]squeda"
    r"|recherche|chercher|\bcerca|\bricerca|\bzoek|szukaj|wyszuk|\bsök|\bsøk|\bsøg|\bhled|\bpesquis|\bprocur|\barama\b"
    r"|поиск|искать|найти|搜|検索|검색|بحث"
)
_QUERY_NAME = re.compile(r"(?:^|[^a-z])(?:q|qs|s|kw|isindex|words?|terms?|text|title|author|subject)(?:$|[^a-z])")
_HARMFUL_PATH = re.compile(
    r"(?:^|[/._-])(?:log[io]n|logout|sign[_-]?(?:in|up|out)|register|registration|checkout|cart|basket|pay(?:ment)?|donate"
    r"|buy|purchase|upload|comments?|contact|subscribe|unsubscribe|delete|remove|edit|vote|confirm|password|auth|session"
    r"|feedback|mailto|newsletter)(?:$|[/._?-])"
)
_PERSONAL = re.compile(
    r"first.?name|last.?name|full.?name|your.?name|sur.?name|user.?name|phone|street|\baddress\b|company|message|comment"
    r"|birth|card.?(?:number|no)|\bcvv\b|\bcvc\b|\biban\b|expir|amount|quantity|\bqty\b|coupon|captcha|passw"
)
_MAIL = re.compile(r"e-?mail|newsletter")
_CHOICE_OF_VIEW = re.compile(r"lang|locale|currency|theme|skin|version|country|region|timezone|font")
_HARMLESS = TEXT_TYPES | {"select", "radio", "checkbox", "hidden", "number", "range", "date", "month", "week", "time"}


def kind_of(form: Form) -> str:
    """One of the kinds above."""
    shown = [field for field in form.fields if field.type != "hidden"]
    if any(field.type == "password" for field in shown):
        return LOGIN
    words = [_words(field) for field in shown]
    about = f"{form.hints} {form.submit}"
    mail = any(field.type == "email" for field in shown) or any(map(_MAIL.search, words))
    if mail:
        return SUBSCRIPTION if len(shown) <= 3 and not any(field.type == "textarea" for field in shown) else OTHER
    if _is_harmful(form, shown, words):
        return OTHER
    return _kind_of_query(form, shown, f"{about} {' '.join(words)}")


def is_query(form: Form) -> bool:
    """Whether the form may be filled in by a crawler: it is a search form, and if it is sent by POST, plainly so."""
    if form.method == "get":
        return form.action.startswith(("http://", "https://")) and is_search(form)
    return is_plain_post(form) and not one_time_token(form)


def wants_token(form: Form) -> bool:
    """Whether the form would be a query, but for a hidden field that looks as if it were good for one time."""
    return form.method == "post" and bool(one_time_token(form)) and is_plain_post(form)


def is_plain_post(form: Form) -> bool:
    """Whether the form is plainly for searching, though it is sent by POST. Its hidden fields may still want a person."""
    if form.method != "post" or not is_sent_plainly(form) or not is_search(form) or says_change(form):
        return False
    shown = [field for field in form.fields if field.type != "hidden"]
    path = form.action.partition("://")[2].partition("/")[2].lower()
    submit = form.submit.replace("submit query", "")  # what some browsers write on any button
    words = " ".join((form.hints, submit, path, *map(_words, shown)))
    return bool(_SEARCH.search(words)) or any(field.type == "search" for field in shown)


def is_search(form: Form) -> bool:
    """Whether the form is for searching, whatever way it is sent."""
    return kind_of(form) in (SEARCH_BOX, ADVANCED)


def _is_harmful(form: Form, shown: list[Field], words: list[str]) -> bool:
    if any(field.type not in _HARMLESS for field in shown) or any(map(_PERSONAL.search, words)):
        return True
    path = form.action.partition("://")[2].partition("/")[2].lower()
    return bool(_HARMFUL_PATH.search(path)) or not form.action.startswith(("http://", "https://"))


def _kind_of_query(form: Form, shown: list[Field], words: str) -> str:
    texts = [field for field in shown if field.type in TEXT_TYPES]
    menus = [field for field in shown if field.type in ("select", "radio") and len(field.options) > 1]
    action = form.action.partition("://")[2].partition("/")[2].lower()
    says_so = any(field.type == "search" for field in texts) or bool(
        _SEARCH.search(words) or _SEARCH.search(action) or _QUERY_NAME.search(" ".join(field.name for field in texts))
    )
    if len(texts) == 1 and not menus:
        return SEARCH_BOX if says_so else OTHER
    if texts or menus:
        real = texts or [field for field in menus if not _CHOICE_OF_VIEW.search(_words(field))]
        if real and (says_so or (form.method == "get" and not texts and len(menus) > 1 and "download" not in words)):
            return ADVANCED
    return OTHER


def _words(field: Field) -> str:
    return f"{field.name} {field.label}".lower().replace("_", " ")
