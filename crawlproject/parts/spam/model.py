"""A spam classifier (paper 004 section 6.3): logistic regression over the signs of a page, trained on labelled pages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import Any

from crawlproject.configuration import program
from crawlproject.errors import BadInput

FORMAT = 1
_MOST = 1e100  # the largest number of a model: sums of such are finite
WISH = f"expected a model that `{program} spam` wrote: format {FORMAT}, intercept, weights"

Features = Mapping[str, float]  # a missing one is 0


@dataclass(frozen=True)
class SpamModel:
    """``P(spam) = 1 / (1 + exp(-(intercept + sum of weight * feature)))``; features are those of ``Spam``."""

    intercept: float
    weights: Mapping[str, float]

    def score(self, features: Features) -> float:
        """How far ``P(spam)`` is above one half, 0 to 1: a page that is as likely honest as not counts as honest.

        0 without features.
        """
        if not features:
            return 0.0
        odds = self.intercept + sum(self.weights.get(name, 0.0) * value for name, value in features.items())
        return max(0.0, 2.0 / (1.0 + exp(-min(700.0, max(-700.0, odds)))) - 1.0)

    def against(self, features: Features) -> dict[str, float]:
        """The features that speak for spam."""
        return {name: value for name, value in features.items() if self.weights.get(name, 0.0) * value > 0.0}

    def write(self, path: Path) -> None:
        """Write the model as JSON. Raises ``BadInput`` when the file cannot be written."""
        document = {
            "format": FORMAT,
            "intercept": round(self.intercept, 6),
            "weights": {name: round(weight, 6) for name, weight in sorted(self.weights.items())},
        }
        try:
            path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        except OSError as wrong:
            raise BadInput(str(path), f"cannot be written: {wrong.strerror}") from None

    @classmethod
    def read(cls, path: Path, place: str = "") -> SpamModel:
        """Read a model. Raises ``BadInput`` with ``place`` and the file."""
        where = f"{place}: {path}" if place else str(path)
        try:
            document = json.loads(path.read_bytes())
        except OSError as wrong:
            raise BadInput(where, f"cannot be read: {wrong.strerror}") from None
        except (ValueError, RecursionError):
            raise BadInput(where, WISH) from None
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise BadInput(where, WISH)
        weights = document.get("weights")
        if not isinstance(weights, dict) or not all(map(_is_number, (document.get("intercept"), *weights.values()))):
            raise BadInput(where, WISH)
        return cls(document["intercept"], weights)


def train(examples: Sequence[tuple[Features, bool]]) -> SpamModel:
    """Train a model on labelled pages, True for spam; both classes weigh the same, however many pages they have.

    Pages without features are ignored. Raises ``ValueError`` unless there are other pages of both classes.
    """
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    examples = [(features, is_spam) for features, is_spam in examples if features]
    labels = [is_spam for _, is_spam in examples]
    vectorizer = DictVectorizer(sparse=False)
    table = vectorizer.fit_transform([features for features, _ in examples])
    model = LogisticRegression(C=10.0, class_weight="balanced", max_iter=2000).fit(table, labels)
    weights = dict(zip(vectorizer.get_feature_names_out().tolist(), model.coef_[0].tolist(), strict=True))
    return SpamModel(float(model.intercept_[0]), weights)


@dataclass(frozen=True, slots=True)
class Judged:
    """Precision and recall of spam scores of at least one half; None where there is nothing to count."""

    precision: float | None
    recall: float | None

    @classmethod
    def of(cls, scored: Sequence[tuple[float, bool]]) -> Judged:
        """Judge pairs of a score and whether the page is spam."""
        caught = sum(score >= 0.5 and is_spam for score, is_spam in scored)
        accused = sum(score >= 0.5 for score, _ in scored)
        spam = sum(is_spam for _, is_spam in scored)
        return cls(caught / accused if accused else None, caught / spam if spam else None)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= _MOST
