"""The judge of a crawl that has an appointed judge: it asks that one, and falls back to the keywords if it gets no answer."""

from __future__ import annotations

import logging
import math
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from threading import Lock, Semaphore, Thread
from time import monotonic

from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.judges.base import Judge, NoAnswer, Text
from crawlproject.records import Page, Span

logger = logging.getLogger(__name__)

AT_ONCE = 4  # questions that are being answered at the same time
IN_A_ROW = 3  # failures in a row, after which the judge rests
REST, LONGEST_REST = 60.0, 960.0  # seconds of rest, doubled each time
_SAID = 1_000  # answered pages that are not scored yet


class AppointedJudge(TopicJudge):
    """Lets ``judge`` judge pages; ``cheap`` judges everything else, and the pages without an answer within ``seconds``.

    The thread of a crawl never waits: a judge that ``asks`` is asked beforehand (``pipeline.py``), and its answers come in by
    ``tell``. ``waits``: this judge may wait for answers, as in a rehearsal. Failures are counted, and logged once.
    """

    by_meaning = True

    def __init__(self, name: str, judge: Judge, cheap: TopicJudge, *, seconds: float, waits: bool) -> None:
        self.name, self.appointed, self.cheap = name, judge, cheap
        self.analyzer = cheap.analyzer
        self.query = cheap.query
        self.seconds = seconds
        self.needs_text = waits and judge.needs_text
        self._waits = waits
        self._judges_links = judge.judges_links and not judge.asks
        self._asking = Asking(judge)
        self._told: OrderedDict[str, float] = OrderedDict()
        self._folder: Path | None = None
        self._counts: Counter[str] = Counter()
        self._has_complained = False

    def turn_to(self, keywords: Sequence[str]) -> None:
        self.cheap.turn_to(keywords)
        self.query = self.cheap.query

    # ------------------------------------------------------------ texts without a page

    def relevance(self, counts: Mapping[str, int]) -> float:
        if self.appointed.asks or self.appointed.needs_text:
            return self.cheap.relevance(counts)
        return self._at_once([Text(counts)], [0.0] if not counts else [self.cheap.relevance(counts)])[0]

    def span_score(self, terms: Sequence[str], span: Span) -> float:
        return self.context_scores(terms, [span])[0] if self._judges_links else self.cheap.span_score(terms, span)

    def context_scores(self, terms: Sequence[str], spans: Sequence[Span]) -> list[float]:
        scores = self.cheap.context_scores(terms, spans)
        if not self._judges_links or not spans:
            return scores
        different = dict(zip(spans, scores, strict=True))
        texts = [Text(Counter(terms[start:end])) for start, end in different]
        found = dict(zip(different, self._at_once(texts, list(different.values())), strict=True))
        return [found[span] for span in spans]

    # ------------------------------------------------------------ pages

    def with_relevance(self, page: Page) -> Page:
        told = self._told.pop(page.url, None)
        if told is not None:
            return replace(page, relevance=told)
        first = self.first(page)
        if not self.appointed.asks:
            return replace(page, relevance=self._at_once([Text.of(page)], [first])[0])
        if self._waits and (question := self.question(page, first)) is not None:
            try:
                return replace(page, relevance=self.answered(question.result(self.seconds)))
            except Exception as failure:  # whatever it is, the crawl continues
                self.failed(failure)
        return replace(page, relevance=first)

    def first(self, page: Page) -> float:
        """The relevance of a page without an answer."""
        try:
            return checked([self.appointed.first(page)], 1)[0]
        except Exception as failure:
            self.failed(failure)
            return self.cheap.relevance(page.counts)

    def question(self, page: Page, first: float) -> Future[float] | None:
        """Ask about a page. None if the judge is not asked: the cheap judge is sure, or the judge rests after failures."""
        try:
            if not page.counts or not self.appointed.wants(first):
                return None
        except Exception as failure:
            self.failed(failure)
            return None
        question = self._asking.begin(Text.of(page))
        self._counts["asked" if question is not None else "resting"] += 1
        return question

    def tell(self, url: str, relevance: float | None) -> None:
        """Hand over the answer about a page that is about to be scored; None if there is none."""
        self._told.pop(url, None)
        if relevance is not None:
            self._told[url] = relevance
            if len(self._told) > _SAID:
                self._told.popitem(last=False)

    def answered(self, answer: float) -> float:
        """Note an answer that has come in time, and return it."""
        self._asking.answered()
        return answer

    def failed(self, failure: BaseException) -> None:
        """Note that a page has no answer."""
        reason = (
            failure.reason if isinstance(failure, NoAnswer) else type(failure).__name__.removesuffix("Error").lower()
        )
        self._counts[f"failed/{reason}"] += 1
        if isinstance(failure, NoAnswer) and not failure.is_failure:
            return
        self._asking.failed()
        if not self._has_complained:
            self._has_complained = True
            logger.warning(
                "the judge %s does not answer (%s): pages without an answer are judged by words", self.name, reason
            )

    def _at_once(self, texts: Sequence[Text], otherwise: list[float]) -> list[float]:
        try:
            return checked(self.appointed.judge(texts), len(texts))
        except Exception as failure:
            self.failed(failure)
            return otherwise

    # ------------------------------------------------------------ the crawl

    def keep_in(self, folder: Path) -> None:
        if self._folder is None:
            self._folder = folder
            self.appointed.keep_in(folder)

    def counters(self) -> Mapping[str, int]:
        return {f"judge/{end}": number for end, number in {**self._counts, **self.appointed.counters()}.items()}

    def close(self) -> None:
        self.appointed.close()


class Asking:
    """Asks a judge about one page per thread, ``AT_ONCE`` at a time.

    After ``IN_A_ROW`` failures the judge rests, and is then probed with one page. The threads are daemons: one that hangs does
    not keep the process from ending.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._places = Semaphore(AT_ONCE)
        self._lock = Lock()
        self._row = 0  # failures since the last answer
        self._rest = REST
        self._until = 0.0  # end of the rest, by the monotonic clock
        self._is_probe = False  # whether a question is out that tests if the judge answers again

    def begin(self, text: Text) -> Future[float] | None:
        """Ask about a text; the future gets the answer. None if the judge rests."""
        with self._lock:
            if self._row >= IN_A_ROW:
                if monotonic() < self._until:
                    return None
                self._until, self._is_probe = monotonic() + self._rest, True  # for all pages but this one
        question: Future[float] = Future()
        Thread(target=self._ask, args=(text, question), daemon=True, name="judge").start()
        return question

    def answered(self) -> None:
        """Note an answer that has come in time."""
        with self._lock:
            self._row, self._rest = 0, REST

    def failed(self) -> None:
        """Note a failure or a timeout. Of questions asked at the same time, only one prolongs the rest."""
        with self._lock:
            self._row += 1
            if self._row == IN_A_ROW or self._is_probe:
                self._is_probe = False
                self._until = monotonic() + self._rest
                self._rest = min(2 * self._rest, LONGEST_REST)

    def _ask(self, text: Text, question: Future[float]) -> None:
        with self._places:
            if not question.set_running_or_notify_cancel():
                return  # the caller no longer waits
            try:
                [answer] = checked(self._judge.judge([text]), 1)
            except BaseException as failure:
                question.set_exception(failure)
                return
        question.set_result(answer)


def checked(found: Sequence[float], number: int) -> list[float]:
    """``found`` as floats. Raises ``NoAnswer`` unless there are exactly ``number`` values, each from 0 to 1."""
    try:
        values = [float(value) for value in found]
    except (TypeError, ValueError):
        raise NoAnswer("nonsense") from None
    if len(values) != number or not all(math.isfinite(value) and 0 <= value <= 1 for value in values):
        raise NoAnswer("nonsense")
    return values
