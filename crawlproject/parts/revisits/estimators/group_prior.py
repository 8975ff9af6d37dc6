"""Rates with a prior from pages of the same host and template: for pages seen once or a few times.

Related pages reveal much about a page: J. Cho, A. Ntoulas: Effective change detection using sampling. VLDB 2002 (pages
of a site); Q. Tan, Z. Zhuang, P. Mitra, C. Giles: A clustering-based sampling approach for refreshing search engine's
database. WebDB 2007 (clusters of features); L. Barbosa, A. Salgado, F. de Carvalho, J. Robin, J. Freire: Looking at both the
present and the past to efficiently update replicas of web content. WIDM 2005 (features of one copy). Here the group is a host
or a template, and its mean is the prior: an empirical Bayes estimate with a Gamma prior (B. Efron, C. Morris. JASA 70, 1975;
conjugate to the Poisson process).
"""

from __future__ import annotations

import math

import numpy as np

from crawlproject.parts.revisits.allocation import Array
from crawlproject.parts.revisits.base import Table
from crawlproject.parts.revisits.estimators.base import ALL, Estimator, Evidence, Rows

SHAPE = 0.5  # of the Gamma prior of a page's rate around its group's: small, since rates span magnitudes (paper 004 3.2.2.2)
GROUP_SHAPE = 2.0  # changes by which a template's mean is pulled to its host's, and a host's to that of all pages
FIRST_GUESS = 1 / (120 * 86_400.0)  # changes per second, a priori: median of Cho and Garcia-Molina's 2000 sample


class GroupPrior(Estimator):
    """Posterior mean of a Gamma: (shape + X) / (shape / prior + T). 16 bytes a page, 16 a group.

    For an interval in which a change was found, X counts the changes that the present rate expects in it, given that there is
    one or more: rate × t / (1 - e^(-rate t)), one step of the EM algorithm for censored counts. So several changes between
    visits do not count as one.
    """

    def __init__(self, shape: float = SHAPE, group_shape: float = GROUP_SHAPE) -> None:
        self.table = Table(changes=("f4", 0), watched=("f4", 0), host=("u4", 0), template=("u4", 0))
        self.hosts = Table(changes=("f8", 0), watched=("f8", 0))
        self.templates = Table(changes=("f8", 0), watched=("f8", 0), host=("u4", 0))
        self.changes = 0.0
        self.watched = 0.0
        self.shape = shape
        self.group_shape = group_shape

    def meet(self, row: int, host: int, template: int) -> None:
        self.table.grow(row + 1)
        self.hosts.grow(host + 1)
        self.templates.grow(template + 1)
        self.table["host"][row] = host
        self.table["template"][row] = template
        self.templates["host"][template] = host

    def add(self, evidence: Evidence) -> None:
        row = evidence.row
        count, watched = 0.0, evidence.interval
        if evidence.changed and not math.isnan(evidence.quiet):
            count, watched = 1.0, min(evidence.quiet, evidence.interval)
        elif evidence.changed:
            expected = float(self.rates(slice(row, row + 1))[0]) * evidence.interval
            count = expected / -math.expm1(-expected) if expected > 1e-9 else 1.0
        host, template = self.table["host"][row], self.table["template"][row]
        for table, index in ((self.table, row), (self.hosts, host), (self.templates, template)):
            table["changes"][index] += count
            table["watched"][index] += watched
        self.changes += count
        self.watched += watched

    def prior(self, rows: Rows = ALL) -> Array:
        """Mean rate of the template of each row, pulled to that of its host, which is pulled to that of all pages."""
        pull = self.group_shape
        overall = (1 + self.changes) / (1 / FIRST_GUESS + self.watched)
        of_host = (pull + self.hosts["changes"]) / (pull / overall + self.hosts["watched"])
        above = of_host[self.templates["host"]]
        of_template = (pull + self.templates["changes"]) / (pull / above + self.templates["watched"])
        return of_template[self.table["template"][rows]]

    def rates(self, rows: Rows = ALL) -> Array:
        prior: float | Array
        if isinstance(rows, slice) and rows.start is not None and rows.stop == rows.start + 1:
            prior = self._prior_of(rows.start)
        else:
            prior = self.prior(rows)
        changes = self.table["changes"][rows].astype(np.float64)
        watched = self.table["watched"][rows].astype(np.float64)
        return (self.shape + changes) / (self.shape / prior + watched)

    def _prior_of(self, row: int) -> float:
        """``prior`` of one row, in constant time."""
        pull = self.group_shape
        template, host = self.table["template"][row], self.table["host"][row]
        rate = (1 + self.changes) / (1 / FIRST_GUESS + self.watched)
        for group, index in ((self.hosts, host), (self.templates, template)):
            rate = float((pull + group["changes"][index]) / (pull / rate + group["watched"][index]))
        return rate
