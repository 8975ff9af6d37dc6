"""The base of policies that distinguish text that stays from text that is soon overwritten."""

from __future__ import annotations

from crawlproject.parts.revisits.base import Outcome
from crawlproject.parts.revisits.estimators.longevity import Longevity
from crawlproject.parts.revisits.policies.shared import IntervalPolicy


class LongevityPolicy(IntervalPolicy):
    """``longevity`` learns how a page changes. 20 bytes a page more than other policies with intervals."""

    def __init__(self, *, estimator: str = "group_prior") -> None:
        super().__init__(estimator=estimator)
        self.longevity = Longevity()

    @property
    def bytes_per_page(self) -> int:
        return super().bytes_per_page + self.longevity.table.bytes_per_row

    def meet(self, outcome: Outcome) -> None:
        self.longevity.meet(outcome.row)

    def learn(self, outcome: Outcome, interval: float) -> None:
        if outcome.changed:
            self.longevity.add(outcome.row, interval, outcome.novelty)
