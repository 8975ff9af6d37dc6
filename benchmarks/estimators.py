"""The accuracy of estimators of change rates on pages with known rates: Poisson processes, visited at irregular intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from math import comb

import numpy as np

from crawlproject.parts.revisits.allocation import SECONDS_A_DAY
from crawlproject.parts.revisits.estimators.base import Estimator, Evidence

HOSTS = 200  # of the pages


@dataclass(frozen=True, slots=True)
class Accuracy:
    """``bias``: mean error over the mean rate; ``error``: mean absolute error over the mean rate; of the estimates of all
    pages."""

    visits: int
    bias: float
    error: float


def judge(
    estimator: Estimator,
    generator: np.random.Generator,
    *,
    pages: int = 10_000,
    visits: Iterable[int] = (3, 10, 50),
    rate: float | None = None,
    regular: bool = False,
    stated: bool = False,
) -> list[Accuracy]:
    """Accuracy after each of these numbers of visits.

    One visit follows another after a day on average: exactly (``regular``), or exponentially distributed. ``rate``: changes a
    day of every page; by default there are 200 hosts with rates from 0.02 to 2 a day, log-uniform, and the rates of pages are
    Gamma distributed around their host's rate with shape 2. ``stated``: servers state when a page last changed.
    """
    hosts = np.arange(pages) % HOSTS
    if rate is None:
        of_host = np.exp(generator.uniform(math.log(0.02), math.log(2), HOSTS))
        rates = of_host[hosts] * generator.gamma(2, 0.5, pages)
    else:
        rates = np.full(pages, rate)
    for row in range(pages):
        estimator.meet(row, int(hosts[row]), int(hosts[row]))
    found, asked = [], sorted(visits)
    age = generator.exponential(1 / rates)  # days since the last change, at the first visit
    for visit in range(1, asked[-1] + 1):
        intervals = np.ones(pages) if regular else generator.exponential(1, pages)
        since = generator.exponential(1 / rates)  # days back from a visit to the last change: also exponential
        changed = since < intervals
        age = np.where(changed, since, age + intervals)
        for row in range(pages):
            estimator.add(
                Evidence(
                    row,
                    float(intervals[row]) * SECONDS_A_DAY,
                    bool(changed[row]),
                    float(age[row]) * SECONDS_A_DAY if stated else math.nan,
                    int(hosts[row]),
                    int(hosts[row]),
                )
            )
        if visit in asked:
            off = estimator.rates() * SECONDS_A_DAY - rates
            found.append(
                Accuracy(visit, float(off.mean() / rates.mean()), float(np.abs(off).mean() / rates.mean()))
            )  # fmt: skip
    return found


def expected_naive(rate: float) -> float:
    """Mean of the naive estimate of ``rate`` changes per interval: 1 - e^-rate (Cho and Garcia-Molina, TOIT 2003, section
    4.1)."""
    return -math.expm1(-rate)


def expected_bias_reduced(rate: float, visits: int) -> float:
    """Mean of the bias-reduced estimate after so many visits at regular intervals (same, section 4.2)."""
    still = math.exp(-rate)
    return sum(
        -math.log((quiet + 0.5) / (visits + 0.5)) * comb(visits, quiet) * still**quiet * (1 - still) ** (visits - quiet)
        for quiet in range(visits + 1)
    )
