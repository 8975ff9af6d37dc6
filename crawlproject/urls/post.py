"""POST URLs: one string that identifies the method, the URL and the body of a POST request.

Frontier, history and page repository identify a page by its URL. The response to a POST is identified by the target URL of the
form with the body as fragment: ``http://a.example/find#POST?q=reef&lang=en``. All URLs from outside (links, redirects, sitemaps,
seeds) are made canonical, and a canonical URL has no fragment. So only the code that fills in forms makes such URLs. Archives
also hold responses to other bodies, sent by scripts of rendered pages: their URLs have a digest in place of the body.

Indexes of web archives write ``?__wb_method=POST&q=reef`` (pywb). Any page could link to such a URL, so it is not used here.
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
_DIGEST = "-sha1="  # unlikely as the name of a form field
_BODY = re.compile(r"[A-Za-z0-9*._~+%&=-]*")  # what ``urlencode`` writes; no ``#``, no ``/``


class Post(NamedTuple):
    """A POST request to ``url`` with a ``body`` of ``FORM_TYPE``."""

    url: str
    body: str


def is_form_body(body: str) -> bool:
    """Whether a body is of ``FORM_TYPE`` as ``urlencode`` writes it."""
    return _BODY.fullmatch(body) is not None


def body_name(body: bytes) -> str:
    """Return the body as written in ``post_url``: unchanged if it is of ``FORM_TYPE``, else (JSON) its SHA-1 digest."""
    text = body.decode("latin-1")
    return text if is_form_body(text) else f"{_DIGEST}{sha1(body, usedforsecurity=False).hexdigest()}"


def is_digest(url: str) -> bool:
    """Whether ``url`` is a POST URL with only the digest of the body."""
    return f"{_MARK}{_DIGEST}" in url and is_post(url)


def post_url(url: str, body: str) -> str:
    """Return the POST URL for ``url`` and ``body``. Raises ``ValueError`` for a fragment, or a body not of ``FORM_TYPE``."""
    if "#" in url or not is_form_body(body):
        raise ValueError(f"expected a URL without a fragment, and a URL-encoded body: {url!r}, {body!r}")
    return f"{url}{_MARK}{body}"


def post_of(url: str) -> Post | None:
    """Return the request that a POST URL identifies; None for any other URL."""
    if _MARK not in url:
        return None
    place, _, body = url.partition(_MARK)
    return Post(place, body) if "#" not in place and is_form_body(body) else None


def is_post(url: str) -> bool:
    """Whether ``url`` is a POST URL."""
    return _MARK in url and post_of(url) is not None


def as_get(url: str) -> str:
    """Return ``url`` itself; for a POST URL, the URL that would request the same by GET."""
    post = post_of(url)
    return url if post is None else f"{post.url}{'&' if '?' in post.url else '?'}{post.body}"


def canonical_request(canonicalize: Callable[[str], str], url: str) -> str:
    """Return the canonical form of a trusted URL, from this project or a user, never from a page: a POST URL stays one.

    The body stays as it is. Raises ``InvalidUrl``.
    """
    post = post_of(url)
    if post is None:
        return canonicalize(url)
    if len(url) > MAX_LENGTH:
        raise InvalidUrl(url, f"longer than {MAX_LENGTH} characters")
    return post_url(canonicalize(post.url), post.body)
