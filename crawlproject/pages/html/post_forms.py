"""Search forms that are sent by POST: which of them are plainly queries.

A POST may change something on a server, so more is asked of such a form than of one that is sent by GET: it says in words that
it searches, nothing on it says that anything is stored, sent or bought, and it is sent as plain fields.
"""

from __future__ import annotations

import re

from crawlproject.pages.html.forms import MAX_VALUE, Field, Form

# What a form does that stores, sends, buys or removes, in some languages.
_CHANGES = re.compile(
    r"(?<![^\W\d])(?:add|approve|ban|book now|buy|checkout|confirm|create|delete|donate|donation|edit|insert|join|log ?in"
    r"|log ?out|newsletter|password|pay|payment|publish|purchase|register|registration|remove|reply|save|send|sign ?(?:in|out|up)"
    r"|subscribe|subscription|unsubscribe|update|upload|vote|löschen|speichern|bestellen|senden|kaufen|supprimer|enregistrer"
    r"|acheter|eliminar|borrar|guardar|comprar|aggiungi|cancella|verwijderen|opslaan|удалить|сохранить|купить|отправить)(?![^\W\d])"
    r"|削除|送信|保存|購入|登録|删除|提交|登录|注册"
)
_CHANGES_BY_NAME = re.compile(r"(?<![a-z])(?:post|order|report|comment|apply for|contact|reset)(?![a-z])")
_PERSONAL = re.compile(r"e ?mail|user ?(?:name|id)|passw|captcha|phone|amount|quantity|card ?n")
_TOKEN_NAME = re.compile(
    r"csrf|xsrf|token|nonce|authenticity|viewstate|eventvalidation|form build id|antiforgery|session|(?<![a-z])sid(?![a-z])"
    r"|timestamp|time stamp|honey ?pot|signature|(?<![a-z])hmac(?![a-z])"
)
_OPAQUE = re.compile(
    r"(?=(?:[^0-9]*[0-9]){2})(?=[^A-Za-z]*[A-Za-z])"
    r"(?:\{?[0-9A-Za-z_-]{16,}\}?|[0-9A-Za-z+/_-]{20,}={1,2}|[0-9A-Za-z+/_.:~-]{40,}={0,2})|[0-9]{10,}"
)
_HEXADECIMAL = re.compile(r"[0-9a-f]{16,}")  # the name of a field: Joomla
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def says_change(form: Form) -> bool:
    """Whether anything on a form says that it is for more than to look something up."""
    hidden = [field for field in form.fields if field.type == "hidden"]
    path = form.action.partition("://")[2].partition("/")[2]
    told = [_plain(text) for field in hidden for text in (field.name, field.value or "")]
    told += [_plain(text) for text in (form.submit, path, *(form.button or ()))]
    told += [_plain(f"{field.name} {field.label}") for field in form.fields if field.type != "hidden"]
    if any(map(_CHANGES.search, told)) or any(_CHANGES_BY_NAME.search(_plain(text)) for text in (form.submit, path)):
        return True
    return any(_PERSONAL.search(_plain(field.name)) for field in hidden)


def is_sent_plainly(form: Form) -> bool:
    """Whether a POST of the form is a list of names and values."""
    return form.enctype in ("", "application/x-www-form-urlencoded")


def one_time_token(form: Form) -> str:
    """The name of a field that the server seems to make anew for each visitor or page; empty when there is none."""
    return next((field.name for field in form.fields if _is_token(field)), "")


def _is_token(field: Field) -> bool:
    if field.type != "hidden":
        return _HEXADECIMAL.fullmatch(field.name) is not None
    value = field.value or ""
    # A value as long as what is read of one may have been cut.
    found = _TOKEN_NAME.search(_plain(field.name)) or _HEXADECIMAL.fullmatch(field.name) or _OPAQUE.fullmatch(value)
    return bool(found) or len(value) >= MAX_VALUE


def _plain(text: str) -> str:
    return re.sub(r"[_\W]+", " ", _CAMEL.sub(" ", text)).lower()
