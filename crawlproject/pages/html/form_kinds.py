"""Classifies forms: queries, and forms that a crawler leaves alone.

The classifier is a decision list over the features of Barbosa and Freire (WebDB 2005, section 3.3): the types of the controls,
the method, and the words on the form. Tests for side effects on the server come first, so that in doubt a form is no query.

A POST may change something on a server, so a POST form has to meet stricter conditions than a GET form: its words say that
it searches, nothing on it says that anything is stored, sent or bought, and it is sent as plain fields.
"""

from __future__ import annotations

import re

from crawlproject.pages.html.forms import MAX_LABEL, MAX_VALUE, TEXT_TYPES, Field, Form

SEARCH_BOX = "search"  # one field for free text
ADVANCED = "advanced"  # several fields, or menus
LOGIN = "login"
SUBSCRIPTION = "subscription"
OTHER = "other"
SEARCH_FORMS = "search_forms"  # sign of a page: the number of its forms that are queries
TOKEN_FORMS = "token_forms"  # sign: the number of forms that would be queries but for a hidden one-time token

# Words for search, find, look up and filter in the most frequent languages of sites.
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
# Words on forms that store, send, buy or remove something, in several languages.
_CHANGES = re.compile(
    r"(?<![^\W\d])(?:add|approve|ban|book now|buy|checkout|confirm|create|delete|donate|donation|edit|insert|join|log ?in"
    r"|log ?out|newsletter|password|pay|payment|publish|purchase|register|registration|remove|reply|save|send|sign ?(?:in|out|up)"
    r"|subscribe|subscription|unsubscribe|update|upload|vote|löschen|speichern|bestellen|senden|kaufen|supprimer|enregistrer"
    r"|acheter|eliminar|borrar|guardar|comprar|aggiungi|cancella|verwijderen|opslaan|удалить|сохранить|купить|отправить)(?![^\W\d])"
    r"|削除|送信|保存|購入|登録|删除|提交|登录|注册"
)
_CHANGES_BY_NAME = re.compile(r"(?<![a-z])(?:post|order|report|comment|apply for|contact|reset)(?![a-z])")
_HIDDEN_CHANGES = re.compile(r"e ?mail|user ?(?:name|id)|passw|captcha|phone|amount|quantity|card ?n")
_TOKEN_NAME = re.compile(
    r"csrf|xsrf|token|nonce|authenticity|viewstate|eventvalidation|form build id|antiforgery|session|(?<![a-z])sid(?![a-z])"
    r"|timestamp|time stamp|honey ?pot|signature|(?<![a-z])hmac(?![a-z])"
)
_OPAQUE = re.compile(
    r"(?=(?:[^0-9]*[0-9]){2})(?=[^A-Za-z]*[A-Za-z])"
    r"(?:\{?[0-9A-Za-z_-]{16,}\}?|[0-9A-Za-z+/_-]{20,}={1,2}|[0-9A-Za-z+/_.:~-]{40,}={0,2})|[0-9]{10,}"
)
_STATEMENT = re.compile(  # a statement of a query language as a value: the form is an editor, not a search
    r"\s*(?:explain\s+)?(?:select\s.*\sfrom\s|with\s.*\sselect\s|prefix\s+\w*:|(?:select|construct|ask|describe)\s.*\swhere\s*\{)",
    re.IGNORECASE | re.DOTALL,
)
_HEXADECIMAL = re.compile(r"[0-9a-f]{16,}")  # the name of a field: Joomla
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def kind_of(form: Form) -> str:
    """Return ``SEARCH_BOX``, ``ADVANCED``, ``LOGIN``, ``SUBSCRIPTION`` or ``OTHER``."""
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
    """Whether a crawler may fill in the form: it is a search form, and if it is sent by POST, plainly so."""
    if form.method == "get":
        return form.action.startswith(("http://", "https://")) and is_search(form) and not _is_cut(form)
    return is_plain_post(form) and not one_time_token(form) and not _is_cut(form)


def _is_cut(form: Form) -> bool:
    """Whether a name or value that the form sends may have been cut."""
    sent = [*(form.button or ())]
    for field in form.fields:
        sent += [field.name, field.value or "", *(option.value for option in field.options)]
    return any(len(text) >= MAX_VALUE for text in sent)


def wants_token(form: Form) -> bool:
    """Whether the form would be a query but for a field that looks like a one-time token."""
    return form.method == "post" and bool(one_time_token(form)) and is_plain_post(form)


def is_plain_post(form: Form) -> bool:
    """Whether the form is plainly for searching although it is sent by POST. It may still need a one-time token."""
    if form.method != "post" or not is_sent_plainly(form) or not is_search(form) or says_change(form):
        return False
    shown = [field for field in form.fields if field.type != "hidden"]
    path = form.action.partition("://")[2].partition("/")[2].lower()
    submit = form.submit.replace("submit query", "")  # what some browsers write on any button
    words = " ".join((form.hints, submit, path, *map(_words, shown)))
    return bool(_SEARCH.search(words)) or any(field.type == "search" for field in shown)


def is_search(form: Form) -> bool:
    """Whether the form is for searching, whatever its method."""
    return kind_of(form) in (SEARCH_BOX, ADVANCED)


def _is_harmful(form: Form, shown: list[Field], words: list[str]) -> bool:
    if any(field.type not in _HARMLESS for field in shown) or any(map(_PERSONAL.search, words)):
        return True
    if any(field.type == "hidden" and _STATEMENT.match(field.value or "") for field in form.fields):
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


def says_change(form: Form) -> bool:
    """Whether anything on the form suggests that it does more than look something up."""
    hidden = [field for field in form.fields if field.type == "hidden"]
    path = form.action.partition("://")[2].partition("/")[2]
    told = [_plain(text) for field in hidden for text in (field.name, field.value or "")]
    told += [_plain(text) for text in (form.submit, path, *(form.button or ()))]
    told += [_plain(f"{field.name} {field.label}") for field in form.fields if field.type != "hidden"]
    if any(map(_CHANGES.search, told)) or any(_CHANGES_BY_NAME.search(_plain(text)) for text in (form.submit, path)):
        return True
    return any(_HIDDEN_CHANGES.search(_plain(field.name)) for field in hidden)


def is_sent_plainly(form: Form) -> bool:
    """Whether a POST of the form is a list of names and values."""
    return form.enctype in ("", "application/x-www-form-urlencoded")


def one_time_token(form: Form) -> str:
    """Return the name of a field that the server seems to generate for each visitor or page; empty if there is none."""
    return next((field.name for field in form.fields if _is_token(field)), "")


def _is_token(field: Field) -> bool:
    if field.type != "hidden":
        return _HEXADECIMAL.fullmatch(field.name) is not None
    value = field.value or ""
    # A value longer than any readable text counts as opaque, too.
    found = _TOKEN_NAME.search(_plain(field.name)) or _HEXADECIMAL.fullmatch(field.name) or _OPAQUE.fullmatch(value)
    return bool(found) or len(value) >= MAX_LABEL


def _plain(text: str) -> str:
    return re.sub(r"[_\W]+", " ", _CAMEL.sub(" ", text)).lower()
