"""Values of texts by naive Bayes: regression cast as classification (J. Rennie, A. McCallum, ICML 1999)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crawlproject.orderings.learning.term_ids import Numbers

Values = npt.NDArray[np.float64]


class ValueClassifier:
    """The expected value of a text: ``sum over bins b of P(b | text) * mean value of b``.

    ``texts`` are arrays of term numbers, all below ``terms``; ``values`` their known values. Values are cut into at most
    ``bins`` bins (2 or more) of about as many texts each; equal values share a bin. Naive Bayes over term counts, with one count
    added to each term and bin, gives ``P(b | text)``.

    The contribution of a term does not depend on its position. So many overlapping pieces of one text can be scored with
    cumulative sums of the rows of ``term_logs`` (shape: ``terms`` + 1, bins). The last row is 0, for terms that appeared
    after the training.
    """

    def __init__(self, texts: Sequence[Numbers], values: Sequence[float], *, bins: int, terms: int) -> None:
        from scipy.sparse import csr_array
        from sklearn.naive_bayes import MultinomialNB

        known = np.asarray(values, np.float64)
        labels = _bins(known, bins)
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        columns = np.concatenate([*texts, np.zeros(0, np.int32)])
        starts = np.concatenate([[0], np.cumsum(sizes)])
        counts = csr_array((np.ones(len(columns)), columns, starts), shape=(len(texts), terms))
        counts.sum_duplicates()
        model = MultinomialNB(alpha=1.0).fit(counts, labels)
        self.terms = terms
        self.term_logs: Values = np.vstack([model.feature_log_prob_.T, np.zeros(len(model.classes_))])
        self.prior_logs: Values = model.class_log_prior_
        self.means: Values = np.array([known[labels == label].mean() for label in model.classes_])

    def running_sums(self, text: Numbers) -> Values:
        """The logs of the terms before each place: shape (len(text) + 1, bins)."""
        rows = self.term_logs[np.minimum(text, self.terms)]
        return np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)])

    def expected(self, logs: Values) -> Values:
        """The expected value of each text, given the sums of its terms' logs: shape (texts, bins)."""
        logs = logs + self.prior_logs
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        values: Values = shares @ self.means / shares.sum(axis=1)
        return values


def _bins(values: Values, bins: int) -> npt.NDArray[np.int64]:
    """The bin of each value: by the share of values below it, with half of its equals."""
    _, which, equals = np.unique(values, return_inverse=True, return_counts=True)
    middle = (np.cumsum(equals) - equals / 2) / len(values)
    labels: npt.NDArray[np.int64] = (bins * middle).astype(np.int64)[which]
    return labels
