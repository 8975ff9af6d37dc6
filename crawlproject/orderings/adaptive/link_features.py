"""The features of links: one column per kind of evidence.

Outcomes are pairs, ``worth`` of the page and ``prospect`` of its links, and so is evidence: a group's mean worth predicts
worth, its mean prospect predicts prospect.
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
# two webs; a crawl continues to learn from these.
PRIOR: dict[str, tuple[float, float]] = {
    "anchor": (0.20, 0.04),  # keywords in the anchor
    "around": (0.20, 0.06),  # keywords in the aggregation node
    "words": (0.15, 0.00),  # keywords in the URL
    "anchor feedback": (0.02, 0.02),  # terms of the best pages in the anchor
    "words feedback": (0.06, 0.04),  # terms of the best pages in the URL
    "best parent": (-0.10, 0.00),  # the worth of the best linking page; families and parents are better predictors
    "mean parent": (0.05, 0.00),  # the mean worth of all pages that link here
    "parents": (0.08, 0.02),  # the sum of their worth, in logarithms
    "host": (0.00, 0.00),  # what was found on the host
    "folder": (0.22, 0.15),  # in the folder
    "place": (0.25, 0.22),  # behind links at the same place of the same site's pages
    "family": (0.20, 0.28),  # behind links of the same page
    "always": (0.00, -0.02),
}
KINDS = tuple(PRIOR)
REMEMBERED = Groups(16_384, 16_384, 16_384, 0)  # groups without rows; a family without rows gets none any more
SHRINK = 2.0  # weight of a group's prior, in members
FULL_KEYWORDS = 0.4  # share of the keywords' idf at which the feature reaches 1
FULL_FEEDBACK = 2.0  # the same for the weights of feedback


class LinkFeatures:
    """The evidence about rows of a ``LinkTable``. ``without`` names kinds of evidence to leave out (for ablation).

    ``parents`` is what the pages that link to them are worth, where not the table says so.
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
        self._outcomes = np.array([0.05, 0.05])  # the sum of all, starting with one weak page
        self._pages = 1

    def join(self, hosts: Sequence[str], folders: Sequence[str], places: Sequence[Place], family: str) -> Rows:
        """The numbers of four groups for each of some rows, which use them until ``leave``: (rows, 4)."""
        names = (hosts, folders, places, (family,) * len(hosts))
        found = [means.join_all(column) for means, column in zip(self._groups, names, strict=True)]
        return np.array(found, np.int64).reshape(len(found), -1).T

    def leave(self, groups: Rows) -> None:
        """Rows no longer use their groups, (rows, 4)."""
        for means, column in zip(self._groups, groups.T.tolist(), strict=True):
            means.leave_all(column)

    def move(self, groups: Rows, host: str, folder: str) -> None:
        """The URL of a row is another one: it changes its groups of ``host`` and ``folder``."""
        for column, name in enumerate((host, folder)):
            number = self._groups[column].join(name)
            self._groups[column].leave(int(groups[column]))
            groups[column] = number

    def host_names(self, numbers: Iterable[int]) -> list[str]:
        """What the groups of hosts with these numbers are called."""
        return [str(self._groups[0].name_of(number)) for number in numbers]

    def room_for_hosts(self) -> int:
        """All numbers of hosts are less."""
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
        """What the groups of a row are called, by kind, but for its family: no other worker has rows of that."""
        return [(kind, self._groups[kind].name_of(int(groups[kind]))) for kind in range(len(groups) - 1)]

    def add(self, groups: Iterable[tuple[Sequence[Hashable], Vector]], outcomes: Vector, pages: int) -> None:
        """Learn what others have learned of so many pages: sums of outcomes; by kind, groups and (groups, 3): sums, members."""
        self._outcomes += outcomes
        self._pages += pages
        for means, groups_, (names, sums) in zip(self._means, self._groups, groups, strict=False):
            numbers = groups_.join_all(names)
            means.add_sums(numbers, sums[:, :2], sums[:, 2])
            groups_.leave_all(numbers)

    def learn_host(self, host: str, outcome: Vector) -> None:
        """Learn the outcome of a URL without a row, of which only the host is known."""
        self.learn_elsewhere({0: host}, outcome)

    def learn_elsewhere(self, names: Mapping[int, str], outcome: Vector) -> None:
        """Learn the outcome of a URL that has no row any more, of groups by their place in ``Groups``."""
        self._outcomes += outcome
        self._pages += 1
        for kind, name in names.items():
            number = self._groups[kind].join(name)
            self._means[kind].add(number, outcome)
            self._groups[kind].leave(number)

    def share(self, groups: LinkFeatures) -> None:
        """Learn other outcomes from now on, of groups that are numbered by ``groups``. Before anything was learned."""
        self._groups = groups._groups
        others = [Means(2, SHRINK, len(means.members)) for means in self._groups]
        for means, other in zip(self._groups, others, strict=True):
            means.others.append(other)
        self._means = tuple(others)

    def end_share(self) -> None:
        """The outcomes of this one are of no use any more."""
        for means, other in zip(self._groups, self._means, strict=True):
            means.others.remove(other)

    def refresh(self, idfs: Vector | None = None) -> None:
        """Update the weights of the terms from the pages seen so far; ``idfs`` are those of the terms, if they are known."""
        idfs = self._terms.idfs() if idfs is None else idfs
        self._keyword_weights = np.zeros_like(idfs)
        self._keyword_weights[self._keywords] = idfs[self._keywords] / idfs[self._keywords].sum()
        self._feedback_weights = self.feedback.weights(self._keywords, idfs)
        self._find_weighty()

    def of(self, rows: Rows) -> Vector:
        """The evidence, of shape (2, rows, kinds): for worth, and for prospect."""
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
        """``of`` without compiled code; ``logarithms`` are those of the rows' totals."""
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
        """The means of host, folder, place and family: (rows, 2) each."""
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
    """The kinds of evidence that a setting names, divided by commas. Raises ``BadSetting`` for one that there is not."""
    kinds = tuple(name.strip() for name in names.split(",") if name.strip())
    for kind in kinds:
        if kind not in KINDS:
            raise BadSetting("setting ORDERING_WITHOUT", f"expected kinds of {', '.join(KINDS)}; not {kind!r}")
    return kinds


def _filled(weights: Vector, full: float) -> Vector:
    """The summed weights of each row's terms, 1 from ``full`` on."""
    return np.minimum(1.0, weights.sum(axis=1) / full)
