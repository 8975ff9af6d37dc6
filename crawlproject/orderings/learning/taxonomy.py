"""A tree of topics, some of which are good, and a classifier at each of its nodes (000 section 3.3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crawlproject.orderings.learning.naive_bayes import Counts, NaiveBayes

Path = tuple[str, ...]

GOOD, OTHER = "good", "other"  # the last step to a leaf; the other steps end with a slash


class Example(NamedTuple):
    """A document of a class, given by its path from the root; the examples of a class may be good, or not."""

    path: Path
    is_good: bool
    counts: Counts


class Taxonomy:
    """A tree of any depth. Its leaves are the examples of a class that are good, and those that are not.

    The probability of a leaf is the product along its path: at each node, naive Bayes chooses among the children, which are
    equally likely before, and known by all examples below them (Chakrabarti, van den Berg and Dom 1999).

    A class is good where its examples are. All leaves below a node that is marked good are good, so that ``relevance`` is the
    sum over the good nodes.
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
        """Whether the likeliest leaf is good, or below a good node: the rule of hard focus (000 section 3.3)."""
        return self.likeliest(counts)[0][-1] == GOOD

    def is_parent(self, counts: Counts) -> bool:
        """Whether the likeliest leaf is a parent topic of a good one: the examples of its class that are not good.

        The root is none: it is about everything.
        """
        *above, last = self.likeliest(counts)[0]
        below = (leaf for leaf in self.leaves if leaf[-1] == GOOD and len(leaf) > len(above) + 1)
        return last == OTHER and bool(above) and any(leaf[: len(above)] == tuple(above) for leaf in below)

    def likeliest(self, counts: Counts) -> tuple[Path, float]:
        """The leaf with the highest probability, the first of several, and that probability."""
        return max(self.probabilities(counts).items(), key=lambda leaf: leaf[1])


class _Node:
    """The documents below a node, by the paths that are left to them."""

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
        """The leaves below and their probabilities, if this node is certain."""
        shares = self._classifier.probabilities(counts) if self._classifier else dict.fromkeys(self._children, 1.0)
        for name, child in self._children.items():
            below: Iterable[tuple[Path, float]] = child.leaves(counts) if child else [((), 1.0)]
            yield from (((name, *path), shares[name] * share) for path, share in below)


def leaf_of(example: Example) -> Path:
    """The path of an example's leaf."""
    return (*(f"{step}/" for step in example.path), GOOD if example.is_good else OTHER)
