"""What does a host answer when a page does not exist?

After Bar-Yossef, Broder, Kumar and Tomkins, Sic transit gloria telae: towards an understanding of the web's decay, WWW 2004. A
made-up name is requested beside one of the host's pages. Most hosts answer 404. Any other answer is remembered, and a later
page with the same answer does not exist either: its title is the same, except for words of the URL, and its text without links
has at most ``NEW`` shingles that the answer lacks, and most of the answer's. Real pages of one template differ in more than
that, or in their titles. A redirect is the same answer if it leads to the same place; the page at that place is not affected.

The front page of a host is never a soft 404: many hosts show it for any URL.
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

NEW = 16  # shingles of a missing page that the answer may lack: a run of 14 words, or some shorter ones
SHARED = 0.7  # of all shingles of both that both must have
LEAST = 20  # shingles; shorter texts must be equal, and so must the targets of their links
LOOKED_AT = 2_000  # terms of a page that are compared

_COUNTED = 100_000  # hosts whose pages are counted
_ANSWERING = 2_000  # hosts with an answer that are remembered, 8 kB each at most
_SAYS_NO = frozenset(range(400, 500)) - {401, 403, 407, 408, 425, 429, 451}  # statuses of a page that does not exist
_TITLE = 500  # characters of a title that are compared
_ENDING = re.compile(r"\.[a-z]{3,5}$")
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS = str.maketrans("0123456789abcdef", "bcdfghjklmnprstz")

Shingles = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class MissingPageAnswer:
    """What a host answers for the made-up ``url``: a page, or the URL to which it redirects."""

    url: str
    redirect: str
    title: str
    links: int
    shingles: Shingles


class Soft404Detector:
    """Knows what hosts answer for missing pages, and counts the pages of each host until it is asked.

    A host is asked after ``after`` pages, 0: never; ``seed`` chooses the names. Remembers the ``_ANSWERING`` hosts that answered
    last.
    """

    LEARNED: ClassVar[tuple[str, ...]] = ("_pages",)  # the answers have their own log

    def __init__(self, *, after: int = 0, seed: int = 1) -> None:
        self._after = after
        self._seed = seed
        self._pages: OrderedDict[str, int] = OrderedDict()
        self._answers: OrderedDict[str, MissingPageAnswer] = OrderedDict()
        self._asked: OrderedDict[str, None] = OrderedDict()  # hosts that were asked, whatever they answered

    def count(self, url: str) -> None:
        """Count a stored page of its host."""
        if not self._after:
            return
        host = host_of(url)
        self._pages[host] = self._pages.pop(host, 0) + 1
        if len(self._pages) > _COUNTED:
            self._pages.popitem(last=False)

    def asked_for(self, url: str) -> str:
        """The made-up URL to request after the page at ``url`` was kept; empty when its host is not to be asked now.

        A host that had more pages than ``after`` before it could be asked, as ``after`` was larger then, is asked now.
        """
        host = host_of(url)
        pages = self._pages.get(host, 0)
        if not self._after or pages < self._after or (pages > self._after and host in self._asked):
            return ""
        self._note_asked(host)
        return made_up(url, self._seed)

    def _note_asked(self, host: str) -> None:
        self._asked[host] = None
        if len(self._asked) > _COUNTED:
            self._asked.popitem(last=False)

    def judge(self, url: str, answer: ProbeResponse) -> dict[str, Any]:
        """What the answer to a made-up ``url`` shows, as fields of a ``Finding``."""
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
        """Remember the answer of a host."""
        host = host_of(finding.url)
        self._note_asked(host)
        if finding.verdict != MADE_UP:
            return
        shingles = np.frombuffer(b64decode(finding.text, validate=True), "<u4").astype(np.uint32)
        self._answers.pop(host, None)
        self._answers[host] = MissingPageAnswer(finding.url, finding.redirect, finding.title, finding.links, shingles)
        if len(self._answers) > _ANSWERING:
            self._answers.popitem(last=False)

    def is_page(self, page: Page) -> bool:
        """Whether ``page`` is what its host answers for missing pages."""
        missing = self._answers.get(host_of(page.url)) if self._answers else None
        if missing is None or missing.redirect or page.depth == 0 or _is_front(page.url):
            return False
        if not same_title(page, missing.title, missing.url):
            return False
        return _same(shingles_of(page), page, missing)

    def is_redirect(self, url: CrawlUrl, target: str) -> bool:
        """Whether the host of ``url`` redirects requests for missing pages to ``target``."""
        missing = self._answers.get(host_of(url.url)) if self._answers else None
        return missing is not None and missing.redirect == target and url.depth > 0 and not _is_front(url.url)


def made_up(url: str, seed: int) -> str:
    """A URL that does not exist, in the folder of ``url`` and with its ending: sixteen letters chosen by host and ``seed``."""
    path = url.partition("?")[0]
    folder, _, name = path.rpartition("/")
    digest = xxh3_128_hexdigest(host_of(url).encode(), seed=seed & _WORD64)
    ending = _ENDING.search(name)
    return f"{folder}/{digest[:16].translate(_LETTERS)}{ending[0] if ending else ''}"


def shingles_of(page: Page) -> Shingles:
    """The distinct shingles outside links, with all numbers made equal, sorted; of all terms when hardly any are outside links.

    Words of the page's name are left out: a page that says that it is missing often names itself.
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
    """Whether a page has the same title as that at ``url``, words of either URL left out: a missing page may name itself."""
    named = {*_WORD.findall(page.url.lower()), *_WORD.findall(url.lower())}
    one, other = ([w for w in _WORD.findall(text[:_TITLE].lower()) if w not in named] for text in (page.title, title))
    return one == other


def links_of(page: Page) -> int:
    """A digest of the targets of a page's links, in any order; 0 without links."""
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
