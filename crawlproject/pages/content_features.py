"""Topic-independent signs of a document that hint at spam or missing content; and which documents have a text made by
scripts, visible only in a browser.

Whether scripts make the text is decided by several signs together: an empty element that waits for content, a
``<noscript>`` that asks for scripts, template markup that was not filled in, the bundles and marks of frameworks, inline
scripts that fetch and insert, and hardly any text. Visible things other than text (images, frames, videos, forms) count
against it. Documents with text are not examined, so that most pages cost a comparison of two numbers. The weights are
heuristic; ``tests/unit/pages/test_script_made.py`` lists the kinds of pages that they were chosen for.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from itertools import islice

from crawlproject.pages.html.document import Document
from crawlproject.pages.page_types import page_type_of
from crawlproject.pages.text.terms import frequencies
from crawlproject.records import NEEDS_BROWSER
from crawlproject.urls.hosts import domain_of, registrable_domain

# Names of signs, all shares from 0 to 1.
CONCEALED = "concealed"  # of the text: not shown by a browser, without links within the site (a folded menu)
LINKED = "linked"  # of the text: inside links
REPEATED = "repeated_words"  # of the terms: the five most frequent
SMALL_WORDS = "small_words"  # of the words: stop words, a third or more of prose, none of a list of keywords
LONGEST = 600  # characters of text, links apart, of a document that can be an empty shell
SHARE = 4  # bytes of such a document for each of these characters, at least

_WALL_TERMS = 350  # a document with more terms outside its links is no wall
_MANY_TERMS = 80  # shares of a document with fewer terms mean nothing
_NOTABLE = 0.45  # few documents have such a share of repeated words or links: smaller shares are left out
_TOP = 5
_ENOUGH = 3  # points
_FEW = 60  # characters of text: hardly any
_HARDLY = 15
_MANY_LINKS = 400  # characters of links that make a list of links
_MOUNTS = 20  # most elements that are examined as possible mount points
_TAIL = 1_500  # bytes after such an element that are examined
_NOSCRIPT = re.compile(rb"<noscript\b[^<>]*+>(.*?)(?:</noscript|\Z)", re.IGNORECASE | re.DOTALL)
_UNSEEN = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(style|template|svg)\b.*?(?:</\1|\Z)|<head\b.*?(?:</head|<body|\Z)", re.I | re.S
)
_HOST = re.compile(r"\s*(?:https?:)?//(?:[^/?#@]*@)?([^/?#:\s]+)", re.IGNORECASE)  # of an absolute link
_TAG = re.compile(rb"<[^>]*>")
# Elements that frameworks fill, by name, by id or class, or by an attribute.
_MOUNT = re.compile(
    rb"<(?:(?:div|main|section|article|body|ul|ol|table|tbody)\b[^<>]{0,400}?\s(?:(?:id|class)\s*=\s*[\"']?"
    rb"(?:_{0,3}(?:next|nuxt|gatsby|app|root|layout)|svelte|(?:react|vue|js|q|spa|page|ember|my|main)[-_]?(?:app|root|view)"
    rb"|app[-_]?(?:root|container|content|shell|main|mount|wrapper)|application|root[-_]?container|mount(?:[-_]?point)?"
    rb"|main(?:[-_]?content)?|content|results?|container|wrapper|page)[\"'\s>]"
    rb"|(?:ng-view|ui-view|data-ng-view|data-reactroot|data-turbo-root)\b)|(?:[a-z][a-z0-9]{0,20}-){1,6}(?:app|root|shell|main|page|view)"
    rb"|(?:app|root|my|main|page|site)(?:-[a-z0-9]{1,20}){1,6})[^<>]{0,1000}>",
    re.IGNORECASE,
)
_AT_ONCE = re.compile(rb"\s*</", re.ASCII)
_CONTENT = re.compile(rb"<(?:input|textarea|select|img|iframe|video|audio|p|h[1-6]|a|td)\b", re.IGNORECASE)
_BUNDLE = re.compile(
    rb"""\bsrc\s*=\s*["']?[^"'\s>]{0,300}?(?:/_next/|/_nuxt/|/_app/|/static/js/|_framework/|flutter|webpack"""
    rb"""|(?:^|[/"'=])(?:main|app|bundle|index|vendors?|runtime|polyfills|chunk|client|entry|commons|spa|site-app)"""
    rb"""(?:[.~_-][\w.~-]{0,80}?)?\.m?js\b)|\btype\s*=\s*["']?module\b""",
    re.IGNORECASE,
)
_MARKS = (
    b"__NEXT_DATA__", b"__NUXT__", b"__sveltekit", b"__INITIAL_STATE__", b"__PRELOADED_STATE__", b"__APOLLO_STATE__", b" ng-app",
    b" ng-version", b"/config/environment", b" v-cloak", b"ReactDOM", b"createRoot(", b"createApp(", b"webpackJsonp",
    b"webpackChunk", b"Backbone.", b"angular.module", b"__meteor_runtime_config__", b"Ext.application", b"new Vue(",
    b"customElements.define", b"platformBrowserDynamic",
)  # fmt: skip
_TEMPLATE = re.compile(
    rb"\{\{[^{}<>]{1,80}\}\}|\s(?:ng-repeat|ng-bind|data-ng-bind|data-ng-repeat|data-bind|v-for|v-text|x-for|x-text)\s*=",
    re.IGNORECASE,
)
_TOLD = re.compile(
    rb"(?:enabl\w{0,12}|requir\w{0,12}|needs?|turn\w{0,12} on|activ\w{0,12}|aktiv\w{0,12}|habilit\w{0,12}|abilit\w{0,12}"
    rb"|inschakel\w{0,12}|w\xc5\x82\xc4\x85cz\w{0,12}"
    rb"|\xd0\xb2\xd0\xba\xd0\xbb\xd1\x8e\xd1\x87\S{0,12}|\xe5\x90\xaf\xe7\x94\xa8|\xe9\x96\x8b\xe5\x95\x9f|disabled|without)"
    rb".{0,60}java ?script|java ?script.{0,60}(?:enabl|requir|needed|necess|activ|aktiv|habilit|disabled|n\xc3\xb6tig"
    rb"|erforderlich|\xe6\x9c\x89\xe5\x8a\xb9|to (?:run|work|use|view))",
    re.IGNORECASE | re.DOTALL,
)
_ONLY_BETTER = re.compile(
    rb"comment|disqus|best|better|improve|enhance|some (?:features|parts|functions)|full", re.IGNORECASE
)
_LOADING = re.compile(
    r"(?:loading|please wait|one moment|l[aä]dt|laden|wird geladen|chargement|cargando|caricamento|carregando|ładowanie"
    r"|загрузка|加载中|読み込み中|로딩)\b",
    re.IGNORECASE,
)
_FETCHES = (
    b"fetch(",
    b"XMLHttpRequest",
    b"getJSON",
    b"$.ajax",
    b"$.get(",
    b"$.post(",
    b".load(",
    b"axios",
    b"EventSource",
)
_INSERTS = (
    b"innerHTML", b"insertAdjacentHTML", b"appendChild", b"replaceChildren", b"textContent", b".html(", b".append(", b".text(",
)  # fmt: skip
_WRITES = re.compile(rb"document\s*\.\s*write(?:ln)?\s*\(")
_LEAVES = re.compile(
    rb"(?<![\w.])(?:(?:window|document|self|top|parent)\s*\.\s*){0,2}location(?:\s*\.\s*href)?\s*(?:=(?!=)|\.\s*(?:replace|assign)\s*\()"
)
_SEEN = re.compile(
    rb"<(?:frame|frameset|video|audio|canvas|object|embed)\b|<iframe\b[^<>]{0,400}?\ssrc\s*=", re.IGNORECASE
)
_FIELD = re.compile(
    rb"<(?:textarea|select)\b|<input\b(?![^<>]{0,400}?\btype\s*=\s*[\"']?(?:hidden|submit|button))", re.IGNORECASE
)
_IMAGE = re.compile(rb"<(?:img|picture)\b", re.IGNORECASE)


def signs_of(document: Document, counts: Mapping[str, int], terms: int, body: bytes) -> dict[str, float]:
    """Return the signs of a document with this number of ``terms``, by name. A document without content also has its page type
    as a sign, with the value 1; one whose text is made by scripts has ``NEEDS_BROWSER`` alone.

    Shares are from 0 to 1. Low shares, and those of short documents, which mean nothing, are left out.
    """
    text = document.text
    linked = sum([link.anchor[1] - link.anchor[0] for link in document.links])
    share = min(1.0, linked / max(1, len(text)))
    signs: dict[str, float] = {}
    if terms * (1.0 - share) < _WALL_TERMS:
        if page_type := page_type_of(document.title, text, linked, body):
            signs[page_type] = 1.0
        elif not document.redirect and is_script_made(text, linked, body):
            return {NEEDS_BROWSER: 1.0}
    if terms < _MANY_TERMS:
        return signs
    if document.concealed and (concealed := _concealed(document)):
        signs[CONCEALED] = round(concealed / max(1, _letters(text)), 3)
    if share > _NOTABLE:
        signs[LINKED] = round(share, 3)
    times = frequencies(counts)
    repeated = _TOP * max(times) / terms  # an upper bound, which spares most pages the sorting
    if repeated > _NOTABLE:
        repeated = sum(sorted(times)[-_TOP:]) / terms
    if repeated > _NOTABLE:
        signs[REPEATED] = round(repeated, 3)
        signs[SMALL_WORDS] = round(max(0.0, 1.0 - terms / max(1, len(text.split()))), 3)
    return signs


def _concealed(document: Document) -> int:
    """The characters that a browser does not show, without white space and without the text of links within the site."""
    begins = [begin for begin, _ in document.concealed]
    found = sum(_letters(document.text[begin:end]) for begin, end in document.concealed)
    for link in document.links:
        begin, end = link.anchor
        place = bisect_right(begins, begin) - 1
        if place >= 0 and end <= document.concealed[place][1] and not _leads_away(link.href, document.base):
            found -= _letters(document.text[begin:end])
    return max(0, found)


def _letters(text: str) -> int:
    return sum(map(len, text.split()))


def _leads_away(href: str, base: str) -> bool:
    """Whether a link, as written on a page with this base, leads to another site."""
    found = _HOST.match(href)
    return found is not None and registrable_domain(found[1].lower()) != domain_of(base)


def is_script_made(text: str, linked: int, body: bytes) -> bool:
    """Whether a browser would show much more than the visible ``text``, of which ``linked`` characters are links.

    ``body`` is the document, in an encoding that extends ASCII.
    """
    own = len(text) - linked
    if own > 4 * LONGEST or SHARE * own > len(body) or (b"<script" not in body and b"<SCRIPT" not in body):
        return False
    said = " ".join(text.split())
    own = max(0, len(said) - linked)
    return own <= LONGEST and _points(said, own, linked, body) >= _ENOUGH


def _points(said: str, own: int, linked: int, body: bytes) -> int:
    markup, scripts = _split(body)
    noscripts = b" ".join(_NOSCRIPT.findall(markup))
    markup = _UNSEEN.sub(b" ", _NOSCRIPT.sub(b"", markup))
    blank = 0 if linked > _MANY_LINKS or own >= _FEW else 1 if own >= _HARDLY else 2
    if own < _FEW and _LOADING.search(said):
        blank = 2
    waits = 2 * _has_empty_mount(markup)
    points = blank + waits - _shown(markup)
    points += bool(_BUNDLE.search(b" ".join(tag for tag, _ in scripts)) or _has(body, _MARKS))
    points += 2 * (len(_TEMPLATE.findall(markup)) > 1)
    if _asks_for_scripts(noscripts) or (own < 4 * _FEW and _asks_for_scripts(said.encode())):
        points += 2 if blank or waits else 1
    return points + max((_does(code, blank) for _, code in scripts), default=0)


def _split(body: bytes) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    """Return the markup without scripts, and the tag and the code of each script."""
    folded = body.lower()  # as long as ``body``: only ASCII is folded
    markup, scripts, at = [], [], 0
    while (start := folded.find(b"<script", at)) >= 0:
        markup.append(body[at:start])
        begin = folded.find(b">", start)
        end = folded.find(b"</script", begin) if begin >= 0 else -1
        if end < 0:
            at = len(body)
            break
        scripts.append((body[start:begin], body[begin + 1 : end]))
        at = end
    return b"".join((*markup, body[at:])), scripts


def _has_empty_mount(markup: bytes) -> bool:
    """Whether an element waits for its content: it is empty, or hardly anything follows it."""
    for found in islice(_MOUNT.finditer(markup), _MOUNTS):
        behind = markup[found.end() : found.end() + _TAIL]
        if _AT_ONCE.match(behind):
            return True
        if not _CONTENT.search(behind) and len(b" ".join(_TAG.sub(b" ", behind).split())) < _FEW:
            return True
    return False


def _shown(markup: bytes) -> int:
    """Return points for visible things other than text."""
    if _SEEN.search(markup) or _FIELD.search(markup):
        return 2
    return min(2, (len(_IMAGE.findall(markup)) + 1) // 2)


def _asks_for_scripts(text: bytes) -> bool:
    return bool(_TOLD.search(text)) and not _ONLY_BETTER.search(text)


def _does(code: bytes, blank: int) -> int:
    """Return points for what one inline script does."""
    if not code:
        return 0
    if _has(code, _FETCHES) and _has(code, _INSERTS):
        return 2
    if blank and b"location" in code and _LEAVES.search(code):
        return 2
    if blank and b"document" in code and len(code) > 4 * _FEW and _WRITES.search(code):
        return 2
    return 0


def _has(text: bytes, words: tuple[bytes, ...]) -> bool:
    return any(map(text.__contains__, words))
