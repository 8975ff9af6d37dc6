"""One source: a search form, its queries and answers, and whether it is worth further queries."""

from __future__ import annotations

from collections.abc import Callable, Collection
from urllib.parse import parse_qsl, urlsplit

from crawlproject.errors import InvalidUrl
from crawlproject.pages.html.forms import Form
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.forms.candidates import Candidates, Shared, nonsense
from crawlproject.parts.forms.fields import Query, address
from crawlproject.parts.forms.refinement import Refinements
from crawlproject.parts.forms.result_page import ResultPage, read_results
from crawlproject.parts.forms.selection import ChosenValue, QuerySelection
from crawlproject.parts.forms.value_graph import Value, ValueGraph, chao
from crawlproject.records import Page
from crawlproject.urls.post import as_get

SAMPLE = 4  # answers from which a source is judged (query-based sampling: Callan and Connell, TOIS 2001)
FEWEST = 10  # items that the judgment needs
LEAST_RELEVANT = 0.05  # share of relevant items that a source must have by then
SILENT = 3  # answers without any item, after which a form is given up
PATIENCE = 10  # lists in a row without a relevant new item, after which it is given up
MOST_CHOICES = 20  # choices in a row that cannot be asked, after which all values are checked


class FormSource:
    """Chooses the queries of one form, one at a time, and learns from the answers.

    The first query is for a word that does not exist: the links of its answer are not results, and a form that answers it like
    any other query is of no use. Then the words of the topic are queried, and the source is judged by the items that they find.
    ``limit`` is the number of result pages that may be fetched. ``relevant`` is the relevance from which an item counts.

    The state of a source follows from the calls of ``answered`` and ``described``, in order; ``next`` only sets what is out.
    """

    def __init__(
        self,
        form: Form,
        page: str,
        *,
        links: Collection[str],
        canonicalize: Callable[[str], str],
        judge: TopicJudge,
        relevant: float,
        selection: QuerySelection,
        shared: Shared,
        limit: int,
        patience: int = PATIENCE,
    ) -> None:
        self.form = form
        self.page = page
        self.graph = ValueGraph()
        self.fetches = 0
        self.reason = ""  # why it gets no more queries
        self.out = ""  # URL of the query that is waiting or being fetched
        self._canonicalize = canonicalize
        self._judge = judge
        self._relevant = relevant
        self._selection = selection
        self._shared = shared
        self._limit = limit
        self._patience = patience
        self._candidates = Candidates(form, self.graph, shared)
        self.refines = selection.refines  # whether lists that are cut off are followed by narrower queries
        self._refinements = Refinements(form, self.graph)
        self._furniture = set(links) if self._candidates.takes_text else set()
        self._asked: dict[str, Query] = {}
        self._following: Query | None = None  # the next page of the current list
        self._paused: list[tuple[float, Query]] = []  # next pages of paused lists, and parts of lists, with their rates
        self._first: tuple[Query, Page] | None = None  # the first answer of a form of menus, until the second comes
        self._compared = bool(self._candidates.takes_text)
        self._moves = 0  # redirects in a row without an answer
        self._dry = 0  # lists in a row without a relevant new item
        self._brought = 0.0  # relevant new items of the current list

    # ------------------------------------------------------------ what to fetch

    def next(self) -> Query | None:
        """The next result page to fetch; None while one is out, or if this source gets no more."""
        if self.out or self.reason:
            return None
        if self.fetches >= self._limit:
            self.reason = "limit reached"
            return None
        query = self._next()
        if query is None:
            self.reason = self.reason or "nothing left to ask"
            return None
        self._asked[query.url] = query
        self.out = query.url
        return query

    def _next(self) -> Query | None:
        if self._candidates.takes_text and not self._asked:
            word = nonsense(self.form.action)
            url = self._url(self._candidates.address_of_text(word))
            return Query(url, None, word, self.page) if url else None
        if self._following is not None:
            return self._following
        for value in self._candidates.topic[:SAMPLE]:
            if (query := self._query(value)) is not None:
                return query
        failed = 0
        while (choice := self._choice()) is not None:
            rate, paused = max(self._paused, key=lambda found: found[0], default=(-1.0, None))
            if paused is not None and rate >= choice.rate:
                return paused
            if (query := self._query(self.graph.values[choice.value])) is not None:
                return query
            failed += 1
            if failed == MOST_CHOICES:
                self._close_unaskable()
        return max(self._paused, key=lambda found: found[0])[1] if self._paused else None

    def _choice(self) -> ChosenValue | None:
        return self._selection.best(self.graph, self._candidates.open())

    def _query(self, value: Value) -> Query | None:
        """The query for a value; None if it was asked already, or cannot be asked."""
        text = self._candidates.text(value)
        url = self._url(self._candidates.address(value)) if text else ""
        self._candidates.close(value)
        return Query(url, value, text, self.page) if url and url not in self._asked else None

    def _close_unaskable(self) -> None:
        """Close all values that cannot be asked at once, since each choice goes through all open values."""
        for number in self._candidates.open():
            value = self.graph.values[number]
            url = self._url(self._candidates.address(value))
            if not url or url in self._asked:
                self._candidates.close(value)

    def _url(self, written: str) -> str:
        """The canonical form of an address; empty if it is not a valid URL, such as one that is too long."""
        try:
            return self._canonicalize(written)
        except InvalidUrl:
            return ""

    # ------------------------------------------------------------ answers

    def sends(self, url: str) -> bool:
        """Whether a URL has the fields that the form sends, and no others."""
        every = {field.name: "1" for field in self.form.fields}
        return _names(self._url(address(self.form, {}))) <= _names(url) <= _names(address(self.form, every))

    def adopt(self, url: str, parent: str) -> bool:
        """Take over a waiting query of an earlier run. False if it is not a query of this source."""
        query = self._query_of(url, parent)
        if query is None:
            return False
        self._asked[url] = query
        self.out = url
        return True

    def refused(self) -> None:
        """The query that is out will not be fetched; it is not sent again."""
        query = self._asked[self.out]
        if query.value is None:
            self.reason = "not to be asked"
        self._forget(self.out)
        self.out = ""

    def answered(self, url: str, parent: str, page: Page | None) -> bool:
        """Learn from the answer to a query; ``page`` is None if there was no page. False if it is not a query of this form."""
        query = self._query_of(url, parent)
        if query is None:
            return False
        self._asked[url] = query
        self._forget(url)
        self.out = ""
        self.fetches += 1
        self._moves = 0
        if page is not None:
            self._shared.words.learn(page.text)
        if query.value is None:
            if page is not None:
                self._furniture.update(link.url for link in page.links)
                self._candidates.furniture = frozenset(page.counts)
        elif not self._compared and page is not None:
            self._compare_first(query, page)
        else:
            self._candidates.close(query.value)
            self._take(query, page)
        self._judge_source()
        return True

    def moved(self, url: str, parent: str, target: str) -> bool:
        """A query was redirected to another spelling of itself, or to its answer; the target is out now.

        False if it is not a query of this form.
        """
        query = self._query_of(url, parent)
        if query is None:
            return False
        self._asked[url] = query
        self._asked[target] = query._replace(url=target)
        self._forget(url)
        self.out = target
        self.fetches += 1
        self._moves += 1
        if self._moves > SILENT:  # too many redirects without an answer
            self.reason = "no results"
        return True

    def described(self, page: Page) -> None:
        """Learn the values of a fetched item."""
        if page.url in self.graph.items:
            self._shared.words.learn(page.text)
            values = list(self._candidates.values_of_page(page.counts, page.text))
            self.graph.describe(page.url, values, float(page.relevance >= self._relevant))

    def _query_of(self, url: str, parent: str) -> Query | None:
        if url in self._asked:
            return self._asked[url]
        if (before := self._asked.get(parent)) is not None:
            return before._replace(url=url, parent=parent, number=before.number + 1)
        value = self._candidates.asked_by(url)
        if value is None:
            return None
        if value.text in (word := nonsense(self.form.action), *self._judge.analyzer.terms(word)):
            return Query(url, None, word, self.page)
        return Query(url, value, self._candidates.text(value) or value.text, self.page)

    def _forget(self, url: str) -> None:
        """Remove a query that is out or was answered from the pages to fetch."""
        self._paused = [(rate, query) for rate, query in self._paused if query.url != url]
        if self._following is not None and self._following.url == url:
            self._following = None

    def _compare_first(self, query: Query, page: Page) -> None:
        """The links and terms that the first two answers of a form of menus share are not results."""
        if self._first is None:
            self._first = query, page
            return
        first, before = self._first
        self._furniture = {link.url for link in before.links} & {link.url for link in page.links}
        self._candidates.furniture = frozenset(before.counts.keys() & page.counts.keys())
        self._compared = True
        for one, its in ((first, before), (query, page)):
            assert one.value is not None
            self._candidates.close(one.value)
            self._take(one, its)
            if self._following is not None:
                self._paused.append((0.0, self._following))
                self._following = None

    def _take(self, query: Query, page: Page | None) -> None:
        assert query.value is not None
        found, labelled = ResultPage(), list[tuple[Value, frozenset[str]]]()
        if page is not None:
            found = read_results(page, self._furniture, self._judge, number=query.number)
            labelled = self._candidates.with_terms(self._candidates.labelled(page.text))
            self._refinements.learn(page.text)
        listed = [
            (item.url, list(self._candidates.values_of(item, labelled)), float(item.relevance >= self._relevant))
            for item in found.items
        ]
        before = len(self.graph.items), self._relevant_new(query)
        self.graph.returned(query.value, listed)
        brought = len(self.graph.items) - before[0], self._relevant_new(query) - before[1]
        self._brought += brought[1]
        self._candidates.judge_menus()
        answer = self.graph.answers[self.graph.number(query.value)]
        if not found.following or found.following in self._asked or not found.items:
            answer.complete = True
            self._leave_list()
            if self.refines:
                self._paused += self._refinements.after(query.value, self._query)
            return
        following = Query(found.following, query.value, query.text, query.url, query.number + 1)
        rest, other = self._selection.rest(self.graph, self.graph.number(query.value), brought), self._choice()
        if other is None or rest >= other.rate:
            self._following = following
        else:
            self._paused.append((rest, following))
            self._leave_list()

    def _leave_list(self) -> None:
        self._dry = 0 if self._brought else self._dry + 1
        self._brought = 0.0

    def _relevant_new(self, query: Query) -> float:
        assert query.value is not None
        answer = self.graph.answers.get(self.graph.number(query.value))
        return answer.relevant if answer else 0.0

    # ------------------------------------------------------------ the worth of the source

    def _judge_source(self) -> None:
        answers = list(self.graph.answers.values())
        items = len(self.graph.items)
        if len(answers) >= SILENT and not items:
            self.reason = "no results"
        elif len(answers) >= SILENT and len({frozenset(answer.items) for answer in answers}) == 1:
            self.reason = "same results for everything"
        elif len(answers) == SAMPLE and items >= FEWEST and self.graph.total_relevance < LEAST_RELEVANT * items:
            self.reason = "off topic"
        elif self._dry >= self._patience:
            self.reason = "nothing new"

    @property
    def size(self) -> float:
        """The least number of items of the source, by ``chao``."""
        return chao(self.graph.captures(self._candidates.menus))

    @property
    def relevance(self) -> float:
        """The share of the known items that are relevant."""
        return self.graph.total_relevance / len(self.graph.items) if self.graph.items else 0.0


def _names(url: str) -> set[str]:
    """The names of the fields that a query sends."""
    return {name for name, _ in parse_qsl(urlsplit(as_get(url)).query, keep_blank_values=True)}
