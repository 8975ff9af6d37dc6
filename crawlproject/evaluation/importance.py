"""Importance of pages of a pool: by their text, by links and by location.

The measures are those of paper 000 section 4.1, of paper 002 section 2 and of paper 001 section 4.2. An ``Importance`` gives
one finite number per page of the pool, in the order of the pool; higher is more important.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from crawlproject.errors import BadInput
from crawlproject.evaluation.measures import ranked
from crawlproject.orderings.link_graph import adjacency, hits
from crawlproject.orderings.pagerank import pagerank as pagerank_of
from crawlproject.pages.text.vectors import DocumentFrequencies, cosine, dot, tf_idf
from crawlproject.records import Page
from crawlproject.urls.hosts import domain_of

Values = npt.NDArray[np.float64]
Counts = Mapping[str, int]
HOT_BACKLINKS = 5  # backlinks that a hot page needs when backlinks count too (002 section 7)

_NEGATIVES = 10  # unlabelled pages per positive example, as a sample of the rest of the web


@dataclass(frozen=True, slots=True)
class PagePool:
    """All pages that the crawls of a topic fetched, and what is known about the topic.

    ``pages`` have term counts and links. ``query`` holds the term frequencies of the keywords, ``description`` those of the
    longer description (of the keywords if there is none). ``seeds``, ``positive`` and ``negative`` are the term frequencies
    of the seed pages and of the topic's examples; ``trusted`` are the URLs of the seed pages. ``hot(page)``: whether the
    page is hot in the sense of paper 002 section 7. ``ranks()`` is the PageRank of each URL over the pages of all topics
    (001 section 4.2); if None, PageRank is computed over this pool.
    """

    pages: Sequence[Page]
    query: Counts
    description: Counts
    seeds: Sequence[Counts] = ()
    positive: Sequence[Counts] = ()
    negative: Sequence[Counts] = ()
    trusted: Collection[str] = ()
    hot: Callable[[Page], bool] = lambda page: False
    ranks: Callable[[], Mapping[str, float]] | None = None


Importance = Callable[[PagePool], Values]


def keywords(pool: PagePool) -> Values:
    """Keywords in document (000 section 4.1, measure 1): the share of the distinct keyword terms that the page contains."""
    return _values([sum(term in page.counts for term in pool.query) / len(pool.query) for page in pool.pages])


def query_similarity(pool: PagePool) -> Values:
    """Similarity to a query (measure 2; ``IS`` of 002 section 2 without idf): cosine of term frequencies."""
    return _values([cosine(pool.query, page.counts) for page in pool.pages])


def query_product(pool: PagePool) -> Values:
    """``IS(P)`` of 002 section 2: the inner product with the query, each count weighted by ``1 / occurrences in the pool``."""
    occurrences = {term: sum(page.counts.get(term, 0) for page in pool.pages) for term in pool.query}
    weights = {term: count / occurrences[term] ** 2 for term, count in pool.query.items() if occurrences[term]}
    return _values([dot(weights, page.counts) for page in pool.pages])


def hot(pool: PagePool) -> Values:
    """1 for a hot page, else 0: a keyword is in its title or ten times in its body (002 section 7; Graph 6: eleven times)."""
    return _values([float(pool.hot(page)) for page in pool.pages])


def description_similarity(pool: PagePool) -> Values:
    """``sim(d, p)`` of paper 003 equations 2 and 3: cosine of TF-IDF weights, with idf over the pool (measure 2)."""
    frequencies = _frequencies(pool)
    description = tf_idf(pool.description, frequencies)
    return _values([cosine(description, tf_idf(page.counts, frequencies)) for page in pool.pages])


def seed_similarity(pool: PagePool) -> Values:
    """Similarity to seed pages (measure 3): cosine with the concatenated seed pages.

    Raises ``BadInput`` when no seed page is known.
    """
    if not pool.seeds:
        raise BadInput("--importance seed_similarity", "expected a web that holds a seed page of each topic")
    together: Counter[str] = Counter()
    for seed in pool.seeds:
        together.update(seed)
    return _values([cosine(together, page.counts) for page in pool.pages])


def classifier(pool: PagePool) -> Values:
    """Classifier score (measure 4): the probability of a logistic regression on TF-IDF, trained on the topic's examples.

    Seed pages and positive examples are positive, negative examples negative. Without negative examples, an even sample of
    the pool takes their place, since most of it is off the topic. Raises ``BadInput`` when there is no positive example.
    """
    positive = [*pool.seeds, *pool.positive]
    if not positive:
        raise BadInput("--importance classifier", "expected seed pages or positive examples that the web holds")
    negative = list(pool.negative) or _spread(pool, positive)
    if not negative:
        return np.ones(len(pool.pages))
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(DictVectorizer(), TfidfTransformer(sublinear_tf=True), LogisticRegression(C=10))
    model[-1].set_params(class_weight="balanced")
    model.fit([*positive, *negative], [1] * len(positive) + [0] * len(negative))
    return np.asarray(model.predict_proba([page.counts for page in pool.pages])[:, 1], dtype=np.float64)


def retrieval_rank(pool: PagePool) -> Values:
    """Retrieval system rank (measure 5; ``rank_SMART`` of 001 section 4.1), reversed: 1 for the first page, 0 for the last.

    The pages are ranked by ``description_similarity``, that is, by vectors of unit length.
    """
    return rank_share(description_similarity(pool))


def smart_rank(pool: PagePool) -> Values:
    """``rank_SMART`` to the letter of 001 section 4.1: by the dot product of topic and page, which favours long pages.

    The weights are SMART's ``atn``: augmented term frequency times idf over the pool, not normalised. This is equation 2 of
    003; paper 001 does not state which of SMART's weights it uses.
    """
    frequencies = _frequencies(pool)
    description = tf_idf(pool.description, frequencies)
    return rank_share(_values([dot(description, tf_idf(page.counts, frequencies)) for page in pool.pages]))


def rank_share(values: Values) -> Values:
    """Ranks as a share of the pool: 1 for the best page, 0 for the worst; ties share the mean of their ranks."""
    return 1 - (ranked(values) - 1) / max(len(values) - 1, 1)


def _values(numbers: Sequence[float]) -> Values:
    return np.asarray(numbers, dtype=np.float64)


def _frequencies(pool: PagePool) -> DocumentFrequencies:
    frequencies = DocumentFrequencies()
    for page in pool.pages:
        frequencies.observe(page.counts)
    return frequencies


def _spread(pool: PagePool, positive: Sequence[Counts]) -> list[Counts]:
    others = [page.counts for page in pool.pages if page.counts not in positive]
    step = max(1, len(others) // (_NEGATIVES * len(positive)))
    return others[::step]


def backlinks(pool: PagePool) -> Values:
    """``IB(P)``, the number of pages of the pool that link to the page."""
    return np.asarray(_links(pool).sum(axis=0), dtype=np.float64).ravel()


def pagerank(pool: PagePool) -> Values:
    """``IR(P)`` over the links among the pages of the pool."""
    return pagerank_of(_links(pool))


def external_pagerank(pool: PagePool) -> Values:
    """PageRank over the links between registrable domains only (004 section 4.1)."""
    return pagerank_of(_links(pool, external=True))


def trusted_pagerank(pool: PagePool) -> Values:
    """PageRank whose random jumps, and pages without links, lead evenly to the seed pages (004 section 4.1).

    Raises ``BadInput`` when no seed page is in the pool.
    """
    jumps = np.array([page.url in pool.trusted for page in pool.pages], dtype=np.float64)
    if not jumps.any():
        raise BadInput("--importance trusted_pagerank", "expected a crawl that fetched a seed page of each topic")
    return pagerank_of(_links(pool), jumps=jumps)


def hot_backlinks(pool: PagePool) -> Values:
    """1 for a hot page with five or more backlinks, else 0: IS and IB combined (002 section 7, Graph 7)."""
    return hot(pool) * (backlinks(pool) >= HOT_BACKLINKS)


def authority(pool: PagePool) -> Values:
    """Kleinberg's authority score (HITS) over the links among the pages of the pool."""
    return hits(_links(pool))[1]


def location(pool: PagePool) -> Values:
    """``IL(P)``: ``1 / (1 + segments of the path)``, since URLs with fewer slashes are more useful."""
    return np.array([1 / (1 + _segments(page.url)) for page in pool.pages], dtype=np.float64)


def keywords_pagerank(pool: PagePool) -> Values:
    """``rank_KW,PR`` of paper 001 section 4.2: first by the number of keywords, then by PageRank; 1 is best, 0 worst.

    PageRank is computed over the pages of all topics if ``pool.ranks`` is set.
    """
    found = keywords(pool)
    ranks = pool.ranks() if pool.ranks else None
    popular = pagerank(pool) if ranks is None else np.array([ranks[page.url] for page in pool.pages], dtype=np.float64)
    order = np.lexsort((popular, found))
    # Equal pairs get equal ranks, so that the order of the pool does not matter.
    steps = np.any([np.diff(found[order]) != 0, np.diff(popular[order]) != 0], axis=0)
    place = np.empty(len(order))
    place[order] = np.concatenate(([0], np.cumsum(steps)))[: len(order)]
    return rank_share(place)


IMPORTANCE: dict[str, Importance] = {
    measure.__name__: measure
    for measure in (
        *(
            keywords,
            query_similarity,
            query_product,
            description_similarity,
            seed_similarity,
            classifier,
            retrieval_rank,
            smart_rank,
        ),
        *(backlinks, pagerank, external_pagerank, trusted_pagerank, authority, location, keywords_pagerank),
        *(hot, hot_backlinks),
    )
}


def ranks_of(links: Mapping[str, Iterable[str]]) -> dict[str, float]:
    """The PageRank of pages, given the URLs that each of them links to; links to other URLs do not count."""
    return dict(zip(links, pagerank_of(_matrix(links)).tolist(), strict=True))


def _links(pool: PagePool, *, external: bool = False) -> Any:
    """The links among the pages of the pool, each once, without links of a page to itself (``external``: to its domain)."""
    links = {page.url: [link.url for link in page.links] for page in pool.pages}
    if external:
        domains = {url: domain_of(url) for url in links}
        links = {url: [to for to in found if domains.get(to) != domains[url]] for url, found in links.items()}
    return _matrix(links)


def _matrix(links: Mapping[str, Iterable[str]]) -> Any:
    ids = {url: number for number, url in enumerate(links)}
    pairs = {(ids[url], ids[to]) for url, found in links.items() for to in found if to in ids and to != url}
    sources, targets = zip(*sorted(pairs), strict=True) if pairs else ((), ())
    return adjacency(sources, targets, len(ids))


def _segments(url: str) -> int:
    return sum(map(bool, urlsplit(url).path.split("/")))
