"""The template of a URL: numbers and ids replaced by placeholders. Pages of one template usually come from one script.

A trap has endless URLs but few templates. Which part of a URL varies is not known beforehand, so a URL has several
templates, from the narrowest to its whole host.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crawlproject.urls.hosts import host_of

_DIGITS = re.compile(r"[0-9]+")
_ID = re.compile(r"(?=[^/?&=]*[0-9])[0-9A-Za-z_~%-]{16,}|[0-9A-Fa-f]{8,}(?:-[0-9A-Fa-f]{4,}){1,4}")


def folded(text: str) -> str:
    """``text`` with ``*`` for every long id and ``#`` for every number: ``/cal/#-#``, ``/item/*``."""
    return _DIGITS.sub("#", _ID.sub("*", text))


def templates_of(url: str) -> tuple[str, ...]:
    """The templates of a canonical URL, narrowest first, each different from the one before.

    Of ``http://a.example/shop/2024/item-17?sort=up&page=3``:

    - host, folded path and names of the query: ``a.example/shop/#/item-#?page&sort``
    - any name in that folder: ``a.example/shop/#/*?page&sort``
    - anything below the first segment: ``a.example/shop/**``
    - the host: ``a.example/**``
    """
    return tuple(dict.fromkeys(_templates(url)))


def _templates(url: str) -> Iterator[str]:
    host = host_of(url)
    path, _, query = url[url.index("/", 8) :].partition("?")
    names = f"?{'&'.join(sorted({pair.partition('=')[0] for pair in query.split('&')}))}" if query else ""
    path = folded(path)
    yield host + path + names
    yield f"{host}{path[: path.rindex('/', 0, max(1, len(path) - 1)) + 1]}*{names}"
    first = path.find("/", 1)
    if first > 0:
        yield f"{host}{path[:first]}/**"
    yield f"{host}/**"
