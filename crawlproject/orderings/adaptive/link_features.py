"""The features of links: one column per kind of evidence.

An outcome is a pair: the ``worth`` of the page and the ``prospect`` of its links. So is evidence: the mean worth of a group
predicts worth, its mean prospect predicts prospect.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from crawlproject.errors import BadSetting
from crawlproject.orderings.adaptive.link_table import (
    ANCHOR,
    AROUND,
    COLUMNS,
    WORDS,
    Groups,
    LinkTable,
    Rows,
    TopicParents,
)
from crawlproject.orderings.adaptive.predictors import GroupMeans, Means
from crawlproject.orderings.adaptive.terms import RelevanceFeedback, TermStatistics
from crawlproject.pages.text.counting import Numbers

try:
    from crawlproject.orderings.adaptive import evidence
except Exception:  # not built, or in a zip file
    evidence = None  # type: ignore[assignment]

Vector = npt.NDArray[np.float64]
Place = tuple[str, str]  # linking host and tag path

# The prior weights of each kind of evidence for (worth, prospect), rounded from regressions over rehearsals of 28 topics on
# two webs; a crawl starts from these and learns.
PRIOR: dict[str, tuple[float, float]] = {
    "anchor": (0.20, 0.04),  # keywords in the anchor
    "around": (0.20, 0.06),  # keywords in the aggregation node
    "words": (0.15, 0.00),  # keywords in the URL
    "anchor feedback": (0.02, 0.02),  # terms of the best pages in the anchor
    "words feedback": (0.06, 0.04),  # terms of the best pages in the URL
    "best parent": (-0.10, 0.00),  # the worth of the best linking page; families and parents predict better
    "mean parent": (0.05, 0.00),  # the mean worth of all linking pages
    "parents": (0.08, 0.02),  # ln(1 + the sum of their worth)
    "host": (0.00, 0.00),  # what was found on the host
    "folder": (0.22, 0.15),  # in the folder
    "place": (0.25, 0.22),  # behind links at the same place of the same site's pages
    "family": (0.20, 0.28),  # behind links of the same page
    "always": (0.00, -0.02),
}
KINDS = tuple(PRIOR)
REMEMBERED = Groups(16_384, 16_384, 16_384, 0)  # groups without rows; a family without rows never gets rows again
FROM_SEED = 0.3  # value of a link from a seed to a host of which no page was fetched: a person named the seed
SHRINK = 2.0  # weight of a group's prior, in members
FULL_KEYWORDS = 0.4  # share of the keywords' idf at which the feature reaches 1
FULL_FEEDBACK = 2.0  # summed feedback weights at which the feature reaches 1


class LinkFeatures:
    """The evidence about rows of a ``LinkTable``. ``without`` names kinds of evidence to leave out (for ablation).

    ``parents`` holds the worth of the linking pages, in place of that in the table.
    """

    def __init__(
        self,
        table: LinkTable,
        terms: TermStatistics,
        keywords: Numbers,
        without: tuple[str, ...] = (),
        parents: TopicParents | None = None,
    ) -> None:
        self.feedback = RelevanceFeedback(terms)
        self.prior = np.array(list(PRIOR.values())).T
        self._counts = np.array([kind not in without for kind in KINDS], dtype=float)
        self._table = table
        self._parents = parents or table
        self._terms = terms
        self._keywords = keywords
        self._groups = tuple(GroupMeans(2, SHRINK, remembered) for remembered in REMEMBERED)
        self._means: tuple[Means, ...] = self._groups
        self._keyword_weights = np.zeros(1)
        self._feedback_weights = np.zeros(1)
        self._weighty = np.zeros(1, np.uint8)  # 1 for a term with one of these weights
        self._outcomes = np.array([0.05, 0.05])  # the sum of all outcomes, starting with one weak page
        self._pages = 1

    def join(self, hosts: Sequence[str], folders: Sequence[str], places: Sequence[Place], family: str) -> Rows:
        """The numbers of the four groups of each row, of shape (rows, 4). The rows use these groups until ``leave``."""
        names = (hosts, folders, places, (family,) * len(hosts))
        found = [means.join_all(column) for means, column in zip(self._groups, names, strict=True)]
        return np.array(found, np.int64).reshape(len(found), -1).T

    def leave(self, groups: Rows) -> None:
        """Rows no longer use their ``groups``, of shape (rows, 4)."""
        for means, column in zip(self._groups, groups.T.tolist(), strict=True):
            means.leave_all(column)

    def move(self, groups: Rows, host: str, folder: str) -> None:
        """The URL of a row has changed: move the row to the groups of ``host`` and ``folder``."""
        for column, name in enumerate((host, folder)):
            number = self._groups[column].join(name)
            self._groups[column].leave(int(groups[column]))
            groups[column] = number

    def host_names(self, numbers: Iterable[int]) -> list[str]:
        """The hosts whose groups have these numbers."""
        return [str(self._groups[0].name_of(number)) for number in numbers]

    def room_for_hosts(self) -> int:
        """An upper bound (exclusive) of the numbers of hosts."""
        return len(self._groups[0].members)

    def host_number(self, host: str) -> int:
        """The number of the group of ``host``; -1 if there is none."""
        return self._groups[0].find(host)

    def learn(self, groups: Rows, outcome: Vector) -> None:
        """Learn the outcome of a URL of these groups: (worth, prospect)."""
        self._outcomes += outcome
        self._pages += 1
        for means, group in zip(self._means, groups.tolist(), strict=True):
            means.add(group, outcome)

    def names(self, groups: Rows) -> list[tuple[int, Hashable]]:
        """The kind and name of each group of a row except its family, of which no other worker has rows."""
        return [(kind, self._groups[kind].name_of(int(groups[kind]))) for kind in range(len(groups) - 1)]

    def add(self, groups: Iterable[tuple[Sequence[Hashable], Vector]], outcomes: Vector, pages: int) -> None:
        """Learn what another worker has learned from ``pages`` outcomes, whose sum is ``outcomes``.

        ``groups`` has, for each kind, the names of groups and an array of shape (groups, 3): two sums of outcomes, members.
        """
        self._outcomes += outcomes
        self._pages += pages
        for means, groups_, (names, sums) in zip(self._means, self._groups, groups, strict=False):
            numbers = groups_.join_all(names)
            means.add_sums(numbers, sums[:, :2], sums[:, 2])
            groups_.leave_all(numbers)

    def learn_host(self, host: str, outcome: Vector) -> None:
        """Learn the outcome of a URL without a row: only its host is known."""
        self.learn_elsewhere({0: host}, outcome)

    def learn_elsewhere(self, names: Mapping[int, str], outcome: Vector) -> None:
        """Learn the outcome of a URL that no longer has a row; ``names`` are its groups by their index in ``Groups``."""
        self._outcomes += outcome
        self._pages += 1
        for kind, name in names.items():
            number = self._groups[kind].join(name)
            self._means[kind].add(number, outcome)
            self._groups[kind].leave(number)

    def share(self, groups: LinkFeatures) -> None:
        """Use the groups and numbers of ``groups``, but separate outcomes; must be called before anything is learned."""
        self._groups = groups._groups
        others = [Means(2, SHRINK, len(means.members)) for means in self._groups]
        for means, other in zip(self._groups, others, strict=True):
            means.others.append(other)
        self._means = tuple(others)

    def end_share(self) -> None:
        """Undo ``share``: the outcomes learned here are no longer used."""
        for means, other in zip(self._groups, self._means, strict=True):
            means.others.remove(other)

    def refresh(self, idfs: Vector | None = None) -> None:
        """Update the term weights from the pages seen so far; ``idfs`` are those of all terms, if the caller has them."""
        idfs = self._terms.idfs() if idfs is None else idfs
        self._keyword_weights = np.zeros_like(idfs)
        self._keyword_weights[self._keywords] = idfs[self._keywords] / idfs[self._keywords].sum()
        self._feedback_weights = self.feedback.weights(self._keywords, idfs)
        self._find_weighty()

    def from_seeds(self, rows: Rows) -> Vector:
        """What is added to the value of each row for a link from a seed to its host, until a page of the host was fetched."""
        seeded = self._table.seeded[rows]
        if seeded.any():
            seeded *= FROM_SEED * (self._groups[0].members[self._table.groups[rows, 0]] == 0)
        return seeded

    def of(self, rows: Rows) -> Vector:
        """The evidence about rows, of shape (2, rows, kinds): for worth, and for prospect."""
        if len(self._terms.ids.numbers) > len(self._weighty):
            self._keyword_weights = self._terms.grown(self._keyword_weights)
            self._feedback_weights = self._terms.grown(self._feedback_weights)
            self._find_weighty()
        logarithms = np.log1p(self._parents.total[rows])
        if evidence is None:
            return self._of(rows, logarithms)
        found = np.empty((2, len(rows), len(KINDS)))
        evidence.fill(
            found,
            rows,
            self._table,
            self._parents,
            COLUMNS,
            logarithms,
            self._keyword_weights,
            self._feedback_weights,
            self._weighty,
            self._means,
            self._outcomes / self._pages,
            self._counts,
            FULL_KEYWORDS,
            FULL_FEEDBACK,
            SHRINK,
        )
        return found

    def _find_weighty(self) -> None:
        self._weighty = ((self._keyword_weights != 0) | (self._feedback_weights != 0)).view(np.uint8)

    def _of(self, rows: Rows, logarithms: Vector) -> Vector:
        """``of`` without compiled code; ``logarithms`` are ``ln(1 + total)`` of the rows."""
        terms = self._table.terms[rows]
        keywords = self._keyword_weights[terms]
        texts = (
            _filled(keywords[:, ANCHOR], FULL_KEYWORDS),
            _filled(keywords[:, AROUND], FULL_KEYWORDS),
            _filled(keywords[:, WORDS], FULL_KEYWORDS),
            _filled(self._feedback_weights[terms[:, ANCHOR]], FULL_FEEDBACK),
            _filled(self._feedback_weights[terms[:, WORDS]], FULL_FEEDBACK),
        )
        best = self._parents.best[rows]
        parents = (best, self._parents.total[rows] / self._table.links[rows], logarithms)
        found = np.empty((2, len(rows), len(KINDS)))
        for column, values in enumerate((*texts, *parents)):
            found[:, :, column] = values
        for column, means in enumerate(self._group_means(rows, best), start=len(texts) + len(parents)):
            found[:, :, column] = means.T
        found[:, :, -1] = 1.0
        return found * self._counts

    def _group_means(self, rows: Rows, best: Vector) -> tuple[Vector, ...]:
        """The shrunk means of host, folder, place and family, each of shape (rows, 2)."""
        numbers = self._table.groups[rows]
        hosts, folders, places, families = self._means
        host = hosts.means(numbers[:, 0], self._outcomes / self._pages)
        kin = host.copy()
        kin[:, 0] = best  # before any of its links is fetched, the worth of the page is the prior
        return (
            host,
            folders.means(numbers[:, 1], host),
            places.means(numbers[:, 2], host),
            families.means(numbers[:, 3], kin),
        )


def kinds_of(names: str) -> tuple[str, ...]:
    """The kinds of evidence that a setting names, separated by commas. Raises ``BadSetting`` for an unknown kind."""
    kinds = tuple(name.strip() for name in names.split(",") if name.strip())
    for kind in kinds:
        if kind not in KINDS:
            raise BadSetting("setting ORDERING_WITHOUT", f"expected kinds of {', '.join(KINDS)}; not {kind!r}")
    return kinds


def _filled(weights: Vector, full: float) -> Vector:
    """The summed weights of each row's terms as a share of ``full``, at most 1."""
    return np.minimum(1.0, weights.sum(axis=1) / full)
