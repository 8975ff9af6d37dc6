"""On-topic and off-topic pages for orderings that learn from examples: a tree of topics with a classifier at each node.

The tree is that of paper 000 section 3.3. Each classifier is naive Bayes and gives the probability of each class for a
document. Documents are term counts; their features are TF-IDF weights, ``(1 + ln tf) * (1 + ln((1 + n) / (1 + df)))``,
scaled to length 1. With plain counts, the textbook choice, the probabilities of a long page are always close to 0 or 1,
which leaves nothing to order by.

scikit-learn and scipy are imported inside functions, since Scrapy imports all orderings at every start.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crawlproject.errors import BadSetting
from crawlproject.orderings.base import OrderingContext
from crawlproject.records import Page

Path = tuple[str, ...]
Counts = Mapping[str, int]
Weights = npt.NDArray[np.float64]

WEB: Path = ("(web)",)  # the class of all pages that are not local files
GOOD, OTHER = "good", "other"  # the last step of the path to a leaf; other steps end with a slash
SMOOTHING = 0.01  # additive smoothing per term and class; small, since rows have length 1
_TOP = 20  # the most relevant 1 / _TOP of the drawn pages serve as examples of the topic


def good_pages(context: OrderingContext, drawn: Sequence[Page]) -> Sequence[Page]:
    """The topic's positive examples, and the pages that a person has called relevant.

    Without examples, the seed pages in the archive and the most relevant twentieth of the pages ``drawn`` from it take
    their place, each page once.
    """
    if context.positive or context.archive is None:
        return (*context.positive, *context.said_relevant)
    seeds = filter(None, map(context.archive.page, context.topic.seeds))
    ranked = sorted(drawn, key=lambda page: -page.relevance)
    best = [page for page in ranked[: max(1, len(ranked) // _TOP)] if page.relevance]
    return list({page.url: page for page in (*seeds, *best, *context.said_relevant)}.values())


def bad_pages(context: OrderingContext, drawn: Sequence[Page]) -> Sequence[Page]:
    """The topic's negative examples, or else the less relevant half of ``drawn``; and pages called irrelevant."""
    examples = context.negative or sorted(drawn, key=lambda page: -page.relevance)[len(drawn) // 2 :]
    return (*examples, *context.said_irrelevant)


def drawn_pages(context: OrderingContext, count: int) -> Sequence[Page]:
    """``count`` random pages with a text from the archive; all of them if there are fewer, none without an archive."""
    if context.archive is None:
        return ()
    urls = list(context.archive.urls())
    context.random.shuffle(urls)
    found: dict[str, Page] = {}
    for url in urls:
        if len(found) >= count:
            break
        page = context.archive.page(url)
        if page is not None and page.counts:
            found.setdefault(page.url, page)
    return list(found.values())


def taxonomy_of(context: OrderingContext, sample: int) -> Taxonomy:
    """The taxonomy of the good and the bad pages. The folder of a file is its class, and a subfolder is a subclass.

    The root is the deepest folder that contains all files; pages of the web form one class below it. If the topic lacks
    positive or negative examples, ``sample`` pages are drawn from the archive; without positive examples, the keywords are
    one more good text. Raises ``BadSetting`` if there is no good or no bad page.
    """
    drawn = () if context.positive and context.negative else drawn_pages(context, sample)
    sides = {"positive": good_pages(context, drawn), "negative": bad_pages(context, drawn)}
    for side, found in sides.items():
        if not found:
            raise BadSetting(
                "ordering focused",
                f"has no {side} examples: name pages in examples.{side} of the topic file, "
                "or set ORDERING_ARCHIVE to a web with such pages",
            )
    examples = examples_of(sides["positive"], sides["negative"])
    if not context.positive:
        examples.append(Example(WEB, True, context.judge.query))
    return Taxonomy(examples)


def examples_of(good: Sequence[Page], bad: Sequence[Page]) -> list[Example]:
    """The good pages, then the bad ones, with their classes (see ``taxonomy_of``)."""
    pages = [*good, *bad]
    folders = [_folder_of(page) for page in pages]
    steps = zip(*(folder for folder in folders if folder != WEB), strict=False)
    root = sum(1 for _ in takewhile(lambda names: len(set(names)) == 1, steps))
    return [
        Example(folder if folder == WEB else folder[root:], number < len(good), page.counts)
        for number, (folder, page) in enumerate(zip(folders, pages, strict=True))
    ]


def _folder_of(page: Page) -> Path:
    return tuple(page.url.split("/")[:-1]) if page.url.startswith("file:") else WEB


class Example(NamedTuple):
    """A document, good or not, and its class, given by the path from the root. A class may have examples of both kinds."""

    path: Path
    is_good: bool
    counts: Counts


class Taxonomy:
    """A tree of any depth. A class has up to two leaves: one for its good examples, one for the others.

    The probability of a leaf is the product along its path: at each node, naive Bayes chooses among the children, which
    have equal priors and are trained on all examples below them (Chakrabarti, van den Berg and Dom 1999).

    A leaf is good if its examples are. In the paper, every class below a good class is good; here, its negative examples
    remain negative.
    """

    def __init__(self, examples: Iterable[Example]) -> None:
        self._root = _Node([(leaf_of(example), example.counts) for example in examples])
        self._latest: tuple[Counts, dict[Path, float]] | None = None

    @property
    def leaves(self) -> tuple[Path, ...]:
        """The paths of the leaves, which end with ``GOOD`` or ``OTHER``."""
        return tuple(leaf for leaf, _ in self._root.leaves({}))

    def probabilities(self, counts: Counts) -> dict[Path, float]:
        """``P(c|p)`` of each leaf c; their sum is 1."""
        if self._latest is None or self._latest[0] is not counts:
            self._latest = counts, dict(self._root.leaves(counts))
        return self._latest[1]

    def relevance(self, counts: Counts) -> float:
        """``R(p)``: the sum of ``P(c|p)`` over the good classes c (000 eq. 6), 0 to 1."""
        return min(1.0, sum(share for leaf, share in self.probabilities(counts).items() if leaf[-1] == GOOD))

    def is_good(self, counts: Counts) -> bool:
        """Whether the likeliest leaf is good: the rule of hard focus (000 section 3.3)."""
        return self.likeliest(counts)[0][-1] == GOOD

    def is_parent(self, counts: Counts) -> bool:
        """Whether the likeliest leaf is the negative leaf of a class that has a good class below it: a parent topic.

        The root does not count as one, since it is about everything.
        """
        *above, last = self.likeliest(counts)[0]
        below = (leaf for leaf in self.leaves if leaf[-1] == GOOD and len(leaf) > len(above) + 1)
        return last == OTHER and bool(above) and any(leaf[: len(above)] == tuple(above) for leaf in below)

    def likeliest(self, counts: Counts) -> tuple[Path, float]:
        """The leaf with the highest probability (the first of equals), and that probability."""
        return max(self.probabilities(counts).items(), key=lambda leaf: leaf[1])


class _Node:
    """A node of the tree, built from the documents below it; each has the rest of its path."""

    def __init__(self, documents: list[tuple[Path, Counts]]) -> None:
        below: defaultdict[str, list[tuple[Path, Counts]]] = defaultdict(list)
        for (step, *rest), counts in documents:
            below[step].append((tuple(rest), counts))
        self._children = {
            name: _Node(found) if any(path for path, _ in found) else None for name, found in sorted(below.items())
        }
        texts = {name: [counts for _, counts in found] for name, found in below.items()}
        self._classifier = NaiveBayes(texts) if len(texts) > 1 else None

    def leaves(self, counts: Counts) -> Iterator[tuple[Path, float]]:
        """The leaves below this node and their probabilities, given that the document belongs to this node."""
        shares = self._classifier.probabilities(counts) if self._classifier else dict.fromkeys(self._children, 1.0)
        for name, child in self._children.items():
            below: Iterable[tuple[Path, float]] = child.leaves(counts) if child else [((), 1.0)]
            yield from (((name, *path), shares[name] * share) for path, share in below)


def leaf_of(example: Example) -> Path:
    return (*(f"{step}/" for step in example.path), GOOD if example.is_good else OTHER)


class NaiveBayes:
    """A multinomial naive Bayes classifier, trained once.

    ``documents`` holds the documents of each class, at least one per class; ``priors`` holds the prior probability of each
    class (default: equal). ``vocabulary`` is the set of terms to use (default: all terms of the documents). Deterministic:
    neither the order of the classes nor the order of terms in a document matters.
    """

    def __init__(
        self,
        documents: Mapping[str, Sequence[Counts]],
        *,
        priors: Mapping[str, float] | None = None,
        vocabulary: Collection[str] | None = None,
        smoothing: float = SMOOTHING,
    ) -> None:
        self.classes = tuple(sorted(documents))
        prior = [priors[name] if priors else 1 / len(self.classes) for name in self.classes]
        known = None if vocabulary is None else frozenset(vocabulary)
        texts = [_of_terms(counts, known) for name in self.classes for counts in documents[name]]
        labels = [number for number, name in enumerate(self.classes) for _ in documents[name]]
        self._prior_logs = np.log(prior)
        self._columns: Mapping[str, int] = {}
        self._idf: Weights = np.zeros(0)
        self._term_logs: Weights = np.zeros((0, len(self.classes)))  # shape (terms, classes)
        if any(texts):
            self._train(texts, labels, prior, smoothing)

    def _train(self, texts: Sequence[Counts], labels: Sequence[int], prior: Sequence[float], smoothing: float) -> None:
        from sklearn.feature_extraction import DictVectorizer
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.naive_bayes import MultinomialNB

        vectorizer, weights = DictVectorizer(), TfidfTransformer(sublinear_tf=True)
        rows = weights.fit_transform(vectorizer.fit_transform(texts))
        model = MultinomialNB(alpha=smoothing, class_prior=prior).fit(rows, labels)
        self._columns = vectorizer.vocabulary_
        self._idf = weights.idf_
        self._term_logs = model.feature_log_prob_.T.copy()

    def probabilities(self, counts: Counts) -> dict[str, float]:
        """``P(class | document)`` of each class; the priors if the document has no known term.

        The result equals that of scikit-learn's ``predict_proba``, whose checks take twenty times as long as this sum.
        """
        held = [(column, count) for term, count in counts.items() if (column := self._columns.get(term)) is not None]
        logs = self._prior_logs
        if held:
            columns, frequencies = map(np.array, zip(*sorted(held), strict=True))
            weights = (1 + np.log(frequencies)) * self._idf[columns]
            logs = logs + (weights / np.sqrt(weights @ weights)) @ self._term_logs[columns]
        shares = np.exp(logs - logs.max())
        return dict(zip(self.classes, (shares / shares.sum()).tolist(), strict=True))


def _of_terms(counts: Counts, known: Collection[str] | None) -> Counts:
    return counts if known is None else {term: count for term, count in counts.items() if term in known}
