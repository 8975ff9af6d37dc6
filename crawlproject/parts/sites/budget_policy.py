"""How many fetches a registrable domain is worth, so that one without end does not use up the crawl.

After BEAST (Lee, Leonard, Wang and Loguinov, IRLbot, WWW 2008; paper 004 section 6): a budget grows with links from *other*
sites, which are harder to forge than pages of one's own. In a topical crawl both links and pages count for what they were worth:

    budget = first + paid + per_link * links * mean worth
    paid   = back * worth of its pages, but never more than supported * trust * (1 + links)
    first  = first * trust, but never more than most_first

``links`` is the worth of the links from other sites, each site counted once. So honest pages pay for themselves as long as
others link to their site: ``paid`` approaches its bound slowly. A site that a person named has no budget until there is evidence
against it (``Site.is_suspect``). ``trust`` is 1 while the crawl meets spam, captchas and sites
that look endless, and grows to ``most_trust`` while it does not; up to ``most_back`` it multiplies ``back``, too. The less
trust there is, the less is paid for the pages of a site that looks endless, and the less its links count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from crawlproject.parts.sites.site import Site


@dataclass(frozen=True, slots=True)
class BudgetPolicy:
    """The numbers of the budgets. The idea of a budget that links pay for is IRLbot's; all numbers are ours, chosen by
    measurements on the development webs."""

    # the budget, in fetches
    first: float = 2.0  # of a site that nothing is known of, times trust
    most_first: float = 10.0  # and at most
    back: float = 2.0  # for a page of full worth
    most_back: float = 2.0  # trust up to which more is paid for a page
    per_link: float = 1.0  # for a linking site of full worth: the budget of IRLbot
    supported: float = 30.0  # that pages may earn at most, times trust and 1 + linking sites
    seed: float = 5.0  # linking sites that a seed is worth
    linkers: int = 64  # linking sites that are remembered of a site
    lured: float = 0.5  # share of the links to an endless site that do not count: somebody left them to lure visitors

    # trust in the web
    hostile: float = 0.05  # share of the fetches that were wasted from which on trust is 1
    most_trust: float = 10.0  # while none were
    prior_fetches: float = 10.0  # taken to have been made before, with that share wasted

    # sites that only one other site links to: names are as cheap as pages, and a swarm of domains has many first budgets
    single_source: float = 0.1  # share of all fetches that go to them, times trust
    most_single_source: float = 3.0  # trust up to which they get more
    early_fetches: float = (
        100.0  # taken to have been made of other sites: in the beginning most sites have a single source
    )

    # the worth of a fetch, 1 for the best page
    neutral: float = 0.5  # of a page that is new and honest, whatever it is about: it may be the way to others
    duplicate: float = 0.5  # that a duplicate takes away
    blocked: float = 1.5  # that a captcha, a parked domain or a soft 404 takes away
    detour: float = 0.25  # that a redirect within a host takes away: the page that it leads to pays it back
    missing: float = 0.1  # share of a fetch that a page costs which is not there: a link to it may be old
    moved: float = 0.25  # share that a redirect to another place costs, until a page comes from there
    tedious: float = 0.5  # share of a fetch that is wasted on a page of a site that is surely endless
    surely_open: float = 0.92  # new-link ratio of a site from which on it makes the whole crawl careful
    surely_endless: float = 0.98  # and as careful as can be

    # trials
    trials: float = 0.03  # share of all fetches that may go to sites over budget, although better ones are due
    first_wait: float = 50.0  # fetches of the crawl until the first trial of such a site; doubles with each
    most_doublings: int = 10
    honest: float = (
        0.25  # mean worth of a site whose hosts come before those of sites that waste time, beyond its budget
    )

    sites: int = 200_000  # that are remembered
    targets: int = 20_000  # of redirects to other places


POLICY = BudgetPolicy()


def budget(site: Site, trust: float, *, alone: bool) -> float:
    """How many fetches ``site`` is worth so far, before the setting ``CRAWL_SITE_BUDGET`` scales it.

    Infinite for one that a person named and nothing speaks against. ``trust`` is 1 to ``most_trust``. ``alone`` is False with
    other workers: the first budget is then as large as can be.
    """
    if site.named and not site.is_suspect:
        return math.inf
    links = sum(site.links.values())
    most = POLICY.supported * trust * (1.0 + links)
    paid = POLICY.back * min(trust, POLICY.most_back) * site.trusted_worth
    endless = site.endless / trust
    if paid > 0.0:
        paid *= 1.0 - endless
        paid = most * paid / (most + paid)
    first = min(POLICY.most_first, POLICY.first * trust) if alone else POLICY.most_first
    return first + paid + POLICY.per_link * links * site.trusted_mean * (1.0 - POLICY.lured * endless)


def trust_in_web(wasted: float, fetches: float) -> float:
    """1 while spam, captchas and endless sites are met, ``most_trust`` while none are: there budgets only cost recall."""
    share = (wasted + POLICY.hostile * POLICY.prior_fetches) / (fetches + POLICY.prior_fetches)
    return min(POLICY.most_trust, max(1.0, POLICY.hostile / share))


def single_source_limit(trust: float, fetches: float) -> float:
    """How many of ``fetches`` may be of sites that only one other site links to."""
    return POLICY.single_source * min(trust, POLICY.most_single_source) * (fetches + POLICY.early_fetches)
