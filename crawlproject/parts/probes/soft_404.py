"""What does a host answer when a page is not there?

After Bar-Yossef, Broder, Kumar and Tomkins, Sic transit gloria telae: towards an understanding of the web's decay, WWW 2004. A
name that nobody has made is asked for beside one of the host's pages. Most hosts say 404. What another host says instead is
remembered, and a later page that says the same is not there either: one whose title, but for words of the URL, is the same, and
whose text, links left out, has at most ``NEW`` other shingles and most of the answer's. Real pages of one template differ in
more than that, or in their titles. A redirect says the same when it leads to the same place, whose own page is none the worse
for it.

The front page of a host stays what it is: many hosts show it for whatever is asked.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections import OrderedDict
from dataclasses import dataclass
from itertools import compress
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest, xxh3_128_hexdigest

from crawlproject.pages.text.minhash import shingle_hashes, term_hashes
from crawlproject.pages.text.plain_hashes import SHINGLE, outside_links
from crawlproject.parts.probes.probe_log import HONEST, MADE_UP, UNDECIDED, Finding, ProbeResponse
from crawlproject.records import CrawlUrl, Page
from crawlproject.urls.hosts import host_of, origin_of

NEW = 16  # shingles of a page that a missing one need not have: a run of 14 words, or some shorter ones
SHARED = 0.7  # of all shingles of both that both must have
LEAST = 20  # shingles; shorter texts must be the same, and so must be where their links lead
LOOKED_AT = 2_000  # terms of a page

_COUNTED = 100_000  # hosts whose pages are counted
_ANSWERING = 2_000  # hosts with an answer that are remembered, 8 kB each at most
_SAYS_NO = frozenset(range(400, 500)) - {401, 403, 407, 408, 425, 429, 451}  # statuses that say so
_TITLE = 500  # characters of a title that are looked at
_ENDING = re.compile(r"\.[a-z]{3,5}$")
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS = str.maketrans("0123456789abcdef", "bcdfghjklmnprstz")

Shingles = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class MissingPageAnswer:
    """What a host answers for the made-up ``url``: a page, or where it redirects to."""

    url: str
    redirect: str
    title: str
    links: int
    shingles: Shingles


class Soft404Detector:
    """What hosts answer, and the pages that are counted until one is asked.

    ``after`` pages a host is asked, 0: never; ``seed`` chooses the names. Knows the ``_ANSWERING`` hosts that were asked last
    and answered.
    """

    LEARNED: ClassVar[tuple[str, ...]] = ("_pages",)  # the answers are in a log of their own

    def __init__(self, *, after: int = 0, seed: int = 1) -> None:
        self._after = after
        self._seed = seed
        self._pages: OrderedDict[str, int] = OrderedDict()
        self._answers: OrderedDict[str, MissingPageAnswer] = OrderedDict()

    def count(self, url: str) -> None:
        """A page of a host was stored."""
        if not self._after:
            return
        host = host_of(url)
        self._pages[host] = self._pages.pop(host, 0) + 1
        if len(self._pages) > _COUNTED:
            self._pages.popitem(last=False)

    def asked_for(self, url: str) -> str:
        """The made-up URL to ask for after the page at ``url`` was kept; empty when its host is not to be asked now."""
        if not self._after or self._pages.get(host_of(url)) != self._after:
            return ""
        return made_up(url, self._seed)

    def judge(self, url: str, answer: ProbeResponse) -> dict[str, Any]:
        """What the answer to a made-up ``url`` says, as fields of a ``Finding``."""
        status = answer.fetch.status
        if status in _SAYS_NO:
            return {"verdict": HONEST}
        if answer.trouble:
            return {"verdict": UNDECIDED, "why": answer.trouble}
        if answer.redirect:
            if url[url.rindex("/") + 1 :] in answer.redirect:
                return {"verdict": UNDECIDED, "why": f"redirect to {answer.redirect}"}
            return {"verdict": MADE_UP, "why": "a redirect", "redirect": answer.redirect}
        assert answer.page is not None, "without trouble there is a page or a redirect"
        text = b64encode(shingles_of(answer.page).astype("<u4").tobytes()).decode()
        title, links = answer.page.title[:_TITLE], links_of(answer.page)
        return {"verdict": MADE_UP, "why": f"http {status}", "title": title, "links": links, "text": text}

    def learn(self, finding: Finding) -> None:
        """A host has answered."""
        if finding.verdict != MADE_UP:
            return
        shingles = np.frombuffer(b64decode(finding.text, validate=True), "<u4").astype(np.uint32)
        host = host_of(finding.url)
        self._answers.pop(host, None)
        self._answers[host] = MissingPageAnswer(finding.url, finding.redirect, finding.title, finding.links, shingles)
        if len(self._answers) > _ANSWERING:
            self._answers.popitem(last=False)

    def is_page(self, page: Page) -> bool:
        """Whether ``page`` is the answer of its host for what is not there."""
        missing = self._answers.get(host_of(page.url)) if self._answers else None
        if missing is None or missing.redirect or page.depth == 0 or _is_front(page.url):
            return False
        if not same_title(page, missing.title, missing.url):
            return False
        return _same(shingles_of(page), page, missing)

    def is_redirect(self, url: CrawlUrl, target: str) -> bool:
        """Whether the host of ``url`` sends whoever asks for what is not there to ``target``."""
        missing = self._answers.get(host_of(url.url)) if self._answers else None
        return missing is not None and missing.redirect == target and url.depth > 0 and not _is_front(url.url)


def made_up(url: str, seed: int) -> str:
    """A URL that is not there, in the folder of ``url`` and with its ending: sixteen letters chosen by host and ``seed``."""
    path = url.partition("?")[0]
    folder, _, name = path.rpartition("/")
    digest = xxh3_128_hexdigest(host_of(url).encode(), seed=seed & _WORD64)
    ending = _ENDING.search(name)
    return f"{folder}/{digest[:16].translate(_LETTERS)}{ending[0] if ending else ''}"


def shingles_of(page: Page) -> Shingles:
    """The different shingles outside links, every number made one, sorted; those of all terms when next to none is outside.

    Words of the page's name are left out: a page that is not there often says which one is not.
    """
    terms = page.terms[:LOOKED_AT]
    _, folded = term_hashes(terms)
    terms = terms[: len(folded)]
    outside = outside_links(page)
    if outside is not None and np.count_nonzero(plain := outside[: len(folded)]) >= LEAST + SHINGLE:
        folded, terms = folded[plain], list(compress(terms, plain))
    named = _WORD.findall(page.url[page.url.rindex("/") :].lower())
    own = {term for term in set(terms) if any(word.startswith(term) for word in named)} if named else ()
    if own:
        folded = folded[[term not in own for term in terms]]
    return np.unique((shingle_hashes(folded) >> np.uint64(32)).astype(np.uint32))


def same_title(page: Page, title: str, url: str) -> bool:
    """Whether a page is titled as the one at ``url``, words of either URL left out: a missing page may say which one it is."""
    named = {*_WORD.findall(page.url.lower()), *_WORD.findall(url.lower())}
    one, other = ([w for w in _WORD.findall(text[:_TITLE].lower()) if w not in named] for text in (page.title, title))
    return one == other


def links_of(page: Page) -> int:
    """A digest of where the links of a page lead, in whatever order; 0 for none."""
    targets = sorted({link.url for link in page.links})
    return xxh3_64_intdigest("\n".join(targets).encode("utf-8", "replace")) if targets else 0


def _same(shingles: Shingles, page: Page, missing: MissingPageAnswer) -> bool:
    if len(shingles) < LEAST or len(missing.shingles) < LEAST:
        return np.array_equal(shingles, missing.shingles) and links_of(page) == missing.links
    common = len(np.intersect1d(shingles, missing.shingles, assume_unique=True))
    different = len(shingles) + len(missing.shingles) - common
    return len(shingles) - common <= NEW and common >= SHARED * different


def _is_front(url: str) -> bool:
    return url == f"{origin_of(url)}/"


_WORD64 = 2**64 - 1
