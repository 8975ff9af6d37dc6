"""Topics on two levels: the good and the bad, and below them the classes that examples fall into (000 section 3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crawlproject.orderings.learning.naive_bayes import Counts, NaiveBayes


class Taxonomy:
    """Leaves below two nodes, *good* and *bad*, with a naive Bayes classifier.

    ``good`` and ``bad`` map the name of each leaf to its documents; each side needs at least one document. The prior
    probabilities of both sides are equal, and so are those of the leaves of a side.
    """

    def __init__(self, good: Mapping[str, Sequence[Counts]], bad: Mapping[str, Sequence[Counts]]) -> None:
        sides = {"good": good, "bad": bad}
        leaves = {f"{side}/{name}": documents for side, named in sides.items() for name, documents in named.items()}
        priors = {f"{side}/{name}": 0.5 / len(named) for side, named in sides.items() for name in named}
        self._classifier = NaiveBayes(leaves, priors=priors)
        self._latest: tuple[Counts, dict[str, float]] | None = None

    @property
    def leaves(self) -> tuple[str, ...]:
        """``good/<name>`` and ``bad/<name>``, in alphabetical order."""
        return self._classifier.classes

    def relevance(self, counts: Counts) -> float:
        """``R(p)``: the sum of ``P(c|p)`` over the good leaves c (000 eq. 6), 0 to 1."""
        found = self._probabilities(counts)
        return min(1.0, sum(probability for leaf, probability in found.items() if leaf.startswith("good/")))

    def is_good(self, counts: Counts) -> bool:
        """Whether the likeliest leaf is below the good node: the rule of hard focus."""
        found = self._probabilities(counts)
        return max(found, key=lambda leaf: found[leaf]).startswith("good/")

    def _probabilities(self, counts: Counts) -> dict[str, float]:
        if self._latest is None or self._latest[0] is not counts:
            self._latest = counts, self._classifier.probabilities(counts)
        return self._latest[1]
