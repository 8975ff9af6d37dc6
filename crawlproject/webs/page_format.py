"""Serialises a parsed page: small, fast to load, and safe, since it contains no code.

Terms are numbers in a vocabulary of the page, so that each distinct term is written once. Loaded terms, URLs and tag paths
are interned, so that pages share equal strings in memory.
"""

from __future__ import annotations

import zlib
from array import array
from collections import Counter
from sys import intern
from typing import Any

import orjson

from crawlproject.records import Link, Page, Span

_NUMBER = "I"  # unsigned, 4 bytes on every platform that CPython runs on
_PER_LINK = 5  # anchor start and end, context start and end, tag path
_LEVEL = 1  # of zlib: half the size, and its checksum finds damage


def pack(page: Page) -> tuple[bytes, bytes]:
    """Serialise the link targets, and the rest of the page: with the signs found by parsing, but without text, date,
    judgements and what the crawl adds."""
    vocabulary = {term: number for number, term in enumerate(dict.fromkeys(page.terms))}
    paths = {path: number for number, path in enumerate(dict.fromkeys(link.tag_path for link in page.links))}
    numbers = array(_NUMBER, map(vocabulary.__getitem__, page.terms))
    for link in page.links:
        numbers.extend((*link.anchor_span, *link.context_span, paths[link.tag_path]))
    anchors = [link.anchor for link in page.links]
    head = [
        page.title,
        page.language,
        page.indexable,
        len(page.terms),
        list(vocabulary),
        anchors,
        list(paths),
        dict(page.signs),
        page.redirect,
    ]
    texts = _dumped(head)
    body = len(texts).to_bytes(4, "little") + texts + numbers.tobytes()
    return pack_targets(link.url for link in page.links), zlib.compress(body, _LEVEL)


def unpack(url: str, targets: bytes, rest: bytes) -> Page:
    """Load the page. Raises ``ValueError``, ``TypeError``, ``IndexError`` or ``zlib.error`` for damaged bytes."""
    body = zlib.decompress(rest)
    start = 4 + int.from_bytes(body[:4], "little")
    title, language, indexable, count, words, anchors, tag_paths, signs, redirect = orjson.loads(body[4:start])
    numbers = array(_NUMBER)
    numbers.frombytes(body[start:])
    vocabulary = list(map(intern, words))
    terms = [vocabulary[number] for number in numbers[:count]]
    paths = list(map(intern, tag_paths))
    spans = iter(numbers[count:])
    quintuples = zip(*[spans] * _PER_LINK, strict=True)
    links = [
        Link(target, anchor, Span(start, end), Span(context_start, context_end), 0.0, paths[path])
        for target, anchor, (start, end, context_start, context_end, path) in zip(
            unpack_targets(targets), anchors, quintuples, strict=True
        )
    ]
    return Page(
        url=url,
        title=title,
        language=language,
        terms=terms,
        counts=Counter(terms),
        links=tuple(links),
        indexable=indexable,
        signs=signs,
        redirect=redirect,
    )


def pack_targets(targets: Any) -> bytes:
    """URLs, in order."""
    return _dumped(list(targets))


def unpack_targets(targets: bytes) -> list[str]:
    """Raises ``ValueError`` or ``TypeError`` for damaged bytes."""
    return list(map(intern, orjson.loads(targets)))


def _dumped(value: Any) -> bytes:
    """JSON; lone surrogates, which UTF-8 cannot encode, become question marks, as everywhere on disk."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return orjson.dumps(_spelled(value))


def _spelled(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return list(map(_spelled, value)) if isinstance(value, list) else value
