"""Finds hubs in a known link graph: pages that link to several seed hosts (paper 003 section 6)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

from crawlproject.pages.text.vectors import cosine
from crawlproject.urls.hosts import host_of

MOST = 10  # paper 003 section 6: number of hubs to keep
MIRROR = 0.9  # paper 003 section 6: cosine with the description above which a page repeats it
_FEW_TERMS = 10  # of a shorter description, any page on the topic may have all terms in like numbers


@dataclass(frozen=True, slots=True)
class Hub:
    """A page, and the seed hosts other than its own that it links to, in alphabetical order."""

    url: str
    hosts: tuple[str, ...]


def find_hubs(
    links: Iterable[tuple[str, Iterable[str]]],
    seeds: Collection[str],
    *,
    min_hosts: int = 2,
    most: int = MOST,
    unwanted: Collection[str] = (),
    redirects: Mapping[str, str] | None = None,
    is_wanted: Callable[[str], bool] = lambda url: True,
) -> list[Hub]:
    """The ``most`` pages that link to the most seed hosts, at least ``min_hosts``; ties in alphabetical order.

    ``links`` are pairs of a page and its link targets, canonical; a page may have several consecutive pairs. The page's own
    host does not count, since every page links to its own site. ``redirects`` says where seeds lead to: a link to that host
    is one to the seed's. Seeds, ``unwanted`` pages and those that are not ``is_wanted``, which is asked last, are left out.
    """
    landed = {seed: (redirects or {}).get(seed, seed) for seed in seeds}
    seed_hosts = {host_of(target): host_of(seed) for seed, target in landed.items()}
    seed_hosts |= {host_of(seed): host_of(seed) for seed in seeds}
    excluded = {*seeds, *landed.values(), *unwanted}
    pointed: dict[str, set[str]] = {}
    for page, targets in links:
        found = {host for target in targets if (host := seed_hosts.get(host_of(target)))}
        found.discard(seed_hosts.get(host_of(page), ""))
        if found and page not in excluded:
            pointed.setdefault(page, set()).update(found)
    hubs = [Hub(page, tuple(sorted(hosts))) for page, hosts in pointed.items() if len(hosts) >= min_hosts]
    hubs.sort(key=lambda hub: (-len(hub.hosts), hub.url))
    return list(islice((hub for hub in hubs if is_wanted(hub.url)), most))


def is_mirror(counts: Mapping[str, int], description: Mapping[str, int]) -> bool:
    """Whether a page, given as its term counts, repeats the description of the topic: it may be where seeds and targets are from.

    The page is projected into the space of the terms of the description, to ignore what a mirror adds; then a cosine above
    ``MIRROR`` tells. A description of fewer than ten different terms tells nothing.
    """
    if len(description) < _FEW_TERMS:
        return False
    return cosine({term: counts[term] for term in description if term in counts}, description) > MIRROR


def is_below(url: str, domains: Collection[str]) -> bool:
    """Whether the host of ``url`` is one of the domains, or below one."""
    host = f".{host_of(url)}"
    return any(host.endswith(f".{domain}") for domain in domains)
