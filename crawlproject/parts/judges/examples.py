"""A classifier that is trained on the examples of the topic file before the crawl."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from crawlproject.errors import BadSetting
from crawlproject.extras import need
from crawlproject.orderings.taxonomy import bad_pages, drawn_pages
from crawlproject.parts.judges.base import Given, Judge, Text

SAMPLE = 400  # pages drawn from the archive; the less relevant half are negative examples
ORDINARY = 90  # percentile of the probabilities of the drawn pages: at or below it, relevance is 0
STRENGTH = 10.0  # inverse of the regularization; 1 and 100 give the same average precision within 0.01

Counts = Mapping[str, int]


class ExamplesJudge(Judge):
    """How much more a text resembles the positive examples than ordinary pages do: logistic regression over TF-IDF vectors of
    length 1.

    The weight of a term is ``(1 + ln tf) * (1 + ln((1 + n) / (1 + df)))``; both classes count as equally likely. The keywords
    are one more positive example. Negative examples are ``examples.negative``, or if there are none, the half of ``SAMPLE``
    pages drawn from the archive that is less like the keywords; in both cases, also the pages that a person called not relevant.

    The relevance is ``(p - o) / (1 - o)``, at least 0: p is the probability of the text, and o the percentile ``ORDINARY`` of the
    probabilities of the drawn pages, or of the negative examples if there is no archive. With few examples, every page has some
    probability, and an ordering that learned from it would follow noise.

    Raises ``BadSetting`` if there are no positive or no negative examples.
    """

    def __init__(self, given: Given) -> None:
        super().__init__(given)
        need("judge examples", "learn", "sklearn")
        examples = given.examples
        good = [*examples.positive, *examples.said_relevant]
        drawn = drawn_pages(examples, SAMPLE)
        wanted = {page.url for page in good}
        bad = [page for page in bad_pages(examples, drawn) if page.url not in wanted]
        for side, found in (("positive", good), ("negative", bad)):
            if not any(page.counts for page in found):
                more = "" if side == "positive" else ", or set ORDERING_ARCHIVE to a web that has pages of all kinds"
                raise BadSetting(
                    "judge examples", f"has no {side} examples: name pages in examples.{side} of the topic file{more}"
                )
        self._model = LogisticModel([*(page.counts for page in good), given.cheap.query], [page.counts for page in bad])
        ordinary = [self._model.probability(page.counts) for page in drawn or bad]
        self._ordinary = min(float(np.percentile(ordinary, ORDINARY)), 1 - 1e-9)

    def judge(self, texts: Sequence[Text]) -> Sequence[float]:
        return [self._above(self._model.probability(text.counts)) for text in texts]

    def _above(self, probability: float) -> float:
        return max(0.0, (probability - self._ordinary) / (1 - self._ordinary))


class LogisticModel:
    """Trained once on the term counts of ``good`` and ``bad`` documents; the order of documents and terms does not matter."""

    def __init__(self, good: Sequence[Counts], bad: Sequence[Counts]) -> None:
        from sklearn.feature_extraction import DictVectorizer
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.linear_model import LogisticRegression

        vectorizer, weights = DictVectorizer(), TfidfTransformer(sublinear_tf=True)
        rows = weights.fit_transform(vectorizer.fit_transform([dict(counts) for counts in (*good, *bad)]))
        labels = [1] * len(good) + [0] * len(bad)
        model = LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=1_000, tol=1e-6).fit(rows, labels)
        self._columns: Mapping[str, int] = vectorizer.vocabulary_
        self._idf: Any = weights.idf_
        self._signed: Any = model.coef_[0]
        self._bias = float(model.intercept_[0])

    def probability(self, counts: Counts) -> float:
        """The probability of ``good``, as by scikit-learn's ``predict_proba``; 0 for a text without a known term."""
        columns, found = self._columns, []
        for term, count in counts.items():
            if (column := columns.get(term)) is not None:
                found.append((column, count))
        if not found:
            return 0.0
        places, frequencies = map(np.array, zip(*sorted(found), strict=True))
        weights = (1 + np.log(frequencies)) * self._idf[places]
        odds = float(weights @ self._signed[places] / np.sqrt(weights @ weights)) + self._bias
        return float(1 / (1 + np.exp(-odds)))
