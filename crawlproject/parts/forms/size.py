"""How many items a source has, from how often its queries returned the same ones (capture and recapture)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

RECAPTURED = 10  # items that must have been returned more than once before anything is estimated


def chao(captures: Mapping[int, int]) -> float:
    """The lower bound of Chao (Biometrics 43, 1987), in the form without bias: ``S + f1 (f1 - 1) / (2 (f2 + 1))``.

    ``captures`` says how many items were returned by 1, 2, ... queries: f1, f2, ...; S is their sum. It allows for items that
    are easier to catch than others, as long documents are. Below ``RECAPTURED`` items that were returned twice or more it is S:
    nothing is known of the rest.
    """
    once, twice, known = captures.get(1, 0), captures.get(2, 0), sum(captures.values())
    if known - once < RECAPTURED:
        return float(known)
    return known + once * (once - 1) / (2 * (twice + 1))


def schnabel(samples: Sequence[set[int]]) -> float:
    """The estimate of Schnabel (Am. Math. Monthly 45, 1938): ``sum n_t M_t / (sum m_t + 1)``.

    Sample t has ``n_t`` items, of which ``m_t`` are among the ``M_t`` of the samples before. It assumes that every item is as
    easy to catch as any other: with queries, where that does not hold, it is too low.
    """
    known: set[int] = set()
    caught, recaptured = 0, 0
    for sample in samples:
        caught += len(sample) * len(known)
        recaptured += len(sample & known)
        known |= sample
    return max(float(len(known)), caught / (recaptured + 1))
