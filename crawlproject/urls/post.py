"""The URL of a request that is sent by POST: one name for method, URL and body.

Frontier, history and page repository know a page by its URL. An answer to POST is known by the URL that the form leads to, with
the body as fragment: ``http://a.example/find#POST?q=reef&lang=en``. Whatever comes from outside (links, redirects, sitemaps,
seeds) is made canonical, and no canonical URL has a fragment. So nobody but a reader of forms makes such a URL. Archives also
have answers to other bodies, which scripts of rendered pages sent: there a digest stands for the body.

Indexes of web archives write ``?__wb_method=POST&q=reef`` (pywb). That is a URL which any page may link to.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha1
from typing import NamedTuple

from crawlproject.errors import InvalidUrl
from crawlproject.urls.resolve import MAX_LENGTH

POST = "POST"
FORM_TYPE = "application/x-www-form-urlencoded"
_MARK = "#POST?"
_DIGEST = "-sha1="  # no field of a form that ``urlencode`` wrote is likely to be called so
_BODY = re.compile(r"[A-Za-z0-9*._~+%&=-]*")  # what ``urlencode`` writes; no ``#``, no ``/``


class Post(NamedTuple):
    """A request: ``url`` is where it is sent, ``body`` is of ``FORM_TYPE``."""

    url: str
    body: str


def is_form_body(body: str) -> bool:
    """Whether a body is of ``FORM_TYPE``, as far as we write it."""
    return _BODY.fullmatch(body) is not None


def body_name(body: bytes) -> str:
    """What stands for a body in ``post_url``: itself if it is of ``FORM_TYPE``, else (JSON) its SHA-1 digest."""
    text = body.decode("latin-1")
    return text if is_form_body(text) else f"{_DIGEST}{sha1(body, usedforsecurity=False).hexdigest()}"


def is_digest(url: str) -> bool:
    """Whether ``url`` stands for a POST of a body that is known by its digest only."""
    return f"{_MARK}{_DIGEST}" in url and is_post(url)


def post_url(url: str, body: str) -> str:
    """The URL of a POST to ``url``, which has no fragment. Raises ``ValueError`` for a body that is not of ``FORM_TYPE``."""
    if "#" in url or not is_form_body(body):
        raise ValueError(f"expected a URL without a fragment, and a body as forms send it: {url!r}, {body!r}")
    return f"{url}{_MARK}{body}"


def post_of(url: str) -> Post | None:
    """The request that ``url`` stands for; None for the URL of a GET."""
    if _MARK not in url:
        return None
    place, _, body = url.partition(_MARK)
    return Post(place, body) if "#" not in place and is_form_body(body) else None


def is_post(url: str) -> bool:
    """Whether ``url`` stands for a POST."""
    return _MARK in url and post_of(url) is not None


def as_get(url: str) -> str:
    """``url`` itself; for a POST the URL that would ask for the same by GET."""
    post = post_of(url)
    return url if post is None else f"{post.url}{'&' if '?' in post.url else '?'}{post.body}"


def canonical_request(canonicalize: Callable[[str], str], url: str) -> str:
    """The canonical form of a URL that is ours or a person's, never of one that a page brought: a POST stays a POST.

    The body stays as it is. Raises ``InvalidUrl``.
    """
    post = post_of(url)
    if post is None:
        return canonicalize(url)
    if len(url) > MAX_LENGTH:
        raise InvalidUrl(url, f"longer than {MAX_LENGTH} characters")
    return post_url(canonicalize(post.url), post.body)
