"""Form-focused crawling (paper 004 section 7.2 step 1; Barbosa and Freire, WebDB 2005 and WWW 2007; reference [14] there)."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping
from math import exp
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crawlproject.errors import BadSetting
from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.orderings.learning import TermIds, WaitingUrls
from crawlproject.pages.html.form_kinds import SEARCH_FORMS
from crawlproject.pages.text.counting import Numbers
from crawlproject.records import CrawlUrl, Link, Page
from crawlproject.urls.hosts import host_of

STEPS = 2  # links on the path to a form that count as examples: the link to its page, and the one before
REVISIONS = 128  # waiting links that are rescored after a page
REMEMBERED = 100_000  # fetched pages whose links may still turn out to lead to a form
TOKENS = 40  # words of a link, from its URL, its anchor and its context
FOUND = 0.1  # factor for the score of a link to a host whose form is known
# Words of links to search forms on many sites: counted as if one such link had contained them all.
WORDS = ("search", "advanced", "find", "query", "database", "catalogue", "catalog", "browse", "archive", "collection")

_TOKEN = re.compile(r"[^\W\d_]{2,}")


class _Waiting(NamedTuple):
    """A waiting link: the numbers of its words, the page it is on, and its nearness to the topic."""

    words: Numbers
    parent: str
    topic: float


class FormFocused(BaseOrdering):
    """``form_weight * P(form | words of the link) + (1 - form_weight) * topic``.

    A link leads to a form if the page behind it is the first of its host with a searchable form. ``P`` comes from a naive
    Bayes classifier of the words of URL, anchor and context. It learns online: each fetched page gives an example, the link
    that led to it, and a page with a form also makes an example of the link before that one (the levels of the source).
    ``topic`` is the mean of the relevance of the linking page and the context score of the link. Once the form of a host is
    known, links to that host score a tenth, in place of the source's rule to leave a site.

    Raises ``BadSetting`` unless ``form_weight`` is from 0 to 1.
    """

    learns = True
    reads_forms = True

    def __init__(self, context: OrderingContext, *, form_weight: float = 0.5) -> None:
        super().__init__(context)
        if not 0 <= form_weight <= 1:
            raise BadSetting("setting ORDERING_FORM_WEIGHT", f"expected a share from 0 to 1, not {form_weight!r}")
        self.form_weight = form_weight
        self._ids = TermIds()
        self._model = _LinkClassifier()
        self._model.count(self._ids.of(WORDS), True)
        self._waiting: WaitingUrls[_Waiting] = WaitingUrls()
        self._turns: deque[str] = deque()
        self._fetched: dict[str, _Waiting] = {}  # the links that led to the latest pages
        self._found: set[str] = set()  # hosts whose form is known

    # ------------------------------------------------------------ the contract

    def score(self, page: Page, link: Link) -> float:
        found = self._waiting.get(link.url)
        if found is None:
            if self._waiting.has_ended(link.url):
                return 0.0
            found = _Waiting(self._words(page, link), page.url, (page.relevance + link.context_score) / 2)
            self._waiting.put(link.url, found)
            self._turns.append(link.url)
        return sum(self._parts(link.url, found))

    def observe(self, page: Page) -> None:
        host = host_of(page.url)
        leads = bool(page.signs.get(SEARCH_FORMS)) and host not in self._found
        if leads:
            self._found.add(host)
        link = self._waiting.end(page.url)
        if link is None:
            return
        self._model.count(link.words, leads)
        self._fetched[page.url] = link
        if len(self._fetched) > REMEMBERED:
            del self._fetched[next(iter(self._fetched))]
        for _ in range(STEPS - 1):
            before = self._fetched.get(link.parent)
            if leads and before is not None:
                self._model.count(before.words, True)
                link = before

    def revise(self) -> Iterable[tuple[str, float]]:
        for _ in range(min(REVISIONS, len(self._turns))):
            url = self._turns.popleft()
            found = self._waiting.get(url)
            if found is not None:
                self._turns.append(url)
                yield url, sum(self._parts(url, found))

    def redirected(self, url: str, target: str) -> None:
        waits = self._waiting.get(target) is not None
        self._waiting.move(url, target)
        if not waits and self._waiting.get(target) is not None:
            self._turns.append(target)

    def failed(self, url: str) -> None:
        link = self._waiting.end(url)
        if link is not None:
            self._model.count(link.words, False)

    def refused(self, url: str) -> None:
        self._waiting.end(url)  # nothing was learned

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        """The contributions of words and topic; ``before``: changes since the score was given."""
        found = self._waiting.get(url.url)
        if found is None:
            return {}
        form, topic = self._parts(url.url, found)
        parts = {"form": form, "topic": topic, "before": url.score - form - topic}
        return dict(sorted(parts.items(), key=lambda part: -part[1]))

    # ------------------------------------------------------------ inside

    def _parts(self, url: str, link: _Waiting) -> tuple[float, float]:
        share = FOUND if host_of(url) in self._found else 1.0
        form = self._model.probability(link.words)
        return share * self.form_weight * form, share * (1 - self.form_weight) * link.topic

    def _words(self, page: Page, link: Link) -> Numbers:
        words = dict.fromkeys(_TOKEN.findall(link.url.partition("://")[2].lower()))
        words |= dict.fromkeys(_TOKEN.findall(link.anchor.lower()))
        for start, end in (link.anchor_span, link.context_span):
            words |= dict.fromkeys(page.terms[start : min(end, start + TOKENS)])
        return self._ids.of(list(words)[:TOKENS])


class _LinkClassifier:
    """Naive Bayes over the words of links, counted one link at a time. Both classes have the same prior.

    The sum of the logarithms is divided by the square root of the number of words: the words of a link are not independent,
    and a long context would outweigh every anchor.
    """

    def __init__(self) -> None:
        self._counts = np.ones((2, 1024))  # class x word; 1 for smoothing
        self._totals = np.zeros(2)

    def count(self, words: Numbers, leads: bool) -> None:
        """Count a link with these words, which did or did not lead to a form."""
        self._grow(words)
        self._counts[int(leads), words] += 1
        self._totals[int(leads)] += 1

    def probability(self, words: Numbers) -> float:
        """The probability that a link with these words leads to a form."""
        self._grow(words)
        shares: npt.NDArray[np.float64] = self._counts[:, words] / (self._totals[:, None] + 2)
        odds = float(np.log(shares[1] / shares[0]).sum()) / max(1.0, len(words)) ** 0.5
        return 1 / (1 + exp(-max(-30.0, min(30.0, odds))))

    def _grow(self, words: Numbers) -> None:
        need = int(words.max(initial=0)) + 1
        if need > self._counts.shape[1]:
            more = np.ones((2, max(need, 2 * self._counts.shape[1]) - self._counts.shape[1]))
            self._counts = np.concatenate([self._counts, more], axis=1)
