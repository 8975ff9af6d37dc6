"""The patterns that a site's URLs may be told apart by: which of them lead to content, and which to another view of it.

Other than the templates of ``traps.py``, patterns keep what a view is named by: words as values (``view=print``) and
the last segment (``/print``). URLs of a board are grouped so by Cai and others, "iRobot: An Intelligent Crawler for Web Forums",
WWW 2008.
"""

from __future__ import annotations

import re

from crawlproject.urls.hosts import host_of

_NAME = re.compile(r"[a-z]{1,24}(?:[-_.][a-z]{1,16})?")  # a segment that people gave a name; others are ids and titles
_WORD = re.compile(r"[a-z_]{1,16}")  # a value that names a view: others are numbers, ids, texts
ANY = "*"


def view_patterns(url: str) -> tuple[str, ...]:
    """The patterns of a canonical URL, narrowest first, each different from the others.

    Of ``http://a.example/board/thread-17/print?page=2&order=asc``:

    - its path, ids and titles left out, with names and words of the query: ``a.example/board/*/print?order=asc&page``
    - without the words: ``a.example/board/*/print?order&page``
    - with a query: what is below its first segment: ``a.example/board/**?order&page``
    - without: all that ends with this name, wherever it is
    """
    host = host_of(url)
    path, _, query = url[url.index("/", 8) :].lower().partition("?")
    segments = [segment if _NAME.fullmatch(segment) else ANY for segment in path.split("/")[1:] if segment]
    shape = f"{host}/{'/'.join(segments)}"
    if not query:
        named = len(segments) > 1 and segments[-1] != ANY
        return (shape, f"{host}/**/{segments[-1]}") if named else (shape,)
    pairs = sorted({(name, value) for name, _, value in (pair.partition("=") for pair in query.split("&"))})
    words = "&".join(f"{name}={value}" if _WORD.fullmatch(value) else name for name, value in pairs)
    names = "&".join(dict.fromkeys(name for name, _ in pairs))
    below = f"{host}/{segments[0]}/**" if len(segments) > 1 else f"{host}/**"
    return tuple(dict.fromkeys((f"{shape}?{words}", f"{shape}?{names}", f"{below}?{names}")))


def names_in(pattern: str) -> tuple[str, frozenset[str]]:
    """The path of a pattern, and the names of its query."""
    path, _, query = pattern.partition("?")
    return path, frozenset(pair.partition("=")[0] for pair in query.split("&")) if query else frozenset()
