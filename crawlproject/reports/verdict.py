"""States the results of a comparison in sentences, for terminal and HTML, and in the table of all measures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from crawlproject.evaluation.comparison import LEVEL, OMNISCIENT, RANDOM, Comparison, Duel
from crawlproject.evaluation.question import MEASURES
from crawlproject.evaluation.runs import Checkpoint, Elapsed, in_words

HEADINGS = {
    "recall": "recall",
    "reachable": "reachable",
    "harvest": "harvest",
    "precision": "precision",
    "relevance": "latest",
    "coverage": "coverage",
    "top": "top",
    "rank": "rank",
    "clicks": "clicks",
    "ndcg": "NDCG",
    "half": "half",
}

_NAMED = 4  # rivals named in a verdict


def heading(comparison: Comparison) -> str:
    """Return a heading that says what the numbers of the comparison mean."""
    question = comparison.question
    judged = question.importance.replace("_", " ") or "relevance"
    detail = {
        "harvest": f" ({judged} ≥ {question.threshold:g})",
        "relevance": f" (latest {question.window}; {judged})",
        "top": f" (the {question.top:,} best pages of all crawls by {judged})",
        "recall": "",
        "reachable": "",
    }
    name = MEASURES[question.measure] + detail.get(question.measure, f" (by {judged})")
    when = {int: "after N pages", Elapsed: "after a time"}
    whens = " and ".join(when[type(point)] for point in comparison.finals)
    return f"{name.capitalize()} {whens}: {mean_of(comparison)}"


def mean_of(comparison: Comparison) -> str:
    topics = len(comparison.topics)
    return f"mean over {topics} topics ± standard error" if topics > 1 else f"one topic, {comparison.topics[0]}"


def verdict(comparison: Comparison, point: Checkpoint) -> str:
    """Say which ordering is best at a checkpoint, according to the tests."""
    ranking = comparison.ranking(point)
    if len(ranking) < 2:
        return "There is only one ordering, so nothing to compare."
    if not comparison.testable:
        return f"{ranking[0]} leads; with a single topic, significance cannot be tested."
    rivals = comparison.rivals(point)
    if not rivals:
        return f"{ranking[0]} is significantly better than every other ordering (p < {LEVEL:g} after correction)."
    rivals.sort(key=lambda duel: ranking.index(duel.worse))
    names = [f"{duel.worse} ({p_value(duel)})" for duel in rivals[:_NAMED]]
    if len(rivals) > _NAMED:
        names.append(f"{len(rivals) - _NAMED} more")
    return f"No clear winner: {ranking[0]} leads, but is not significantly better than {', '.join(names)}."


def p_value(duel: Duel) -> str:
    """Return the corrected p-value, or the reason why there is none."""
    return duel.test.why if duel.adjusted is None else f"p = {short_p(duel.adjusted)}"


def short_p(p: float | None) -> str:
    """Return a p-value for a table; a dash if there is none."""
    if p is None:
        return "–"
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def interval_text(interval: tuple[float, float] | None) -> str:
    """Return a confidence interval for a table; a dash if there is none."""
    return "–" if interval is None else f"{interval[0]:+.3f} to {interval[1]:+.3f}"


def method(comparison: Comparison) -> str:
    """Say which tests were used, as a phrase."""
    tests = len(comparison.contenders) * (len(comparison.contenders) - 1)
    test = {"t": "t-tests", "wilcoxon": "Wilcoxon signed-rank tests"}[comparison.question.test]
    return (
        f"paired one-tailed {test} over {len(comparison.topics)} topics; p-values after Holm's correction"
        f" for {tests} tests (each pair in both directions)"
    )


def remarks(comparison: Comparison) -> list[str]:
    """Return notes that explain the tables."""
    notes = [f"{topic} was left out: {reason}." for topic, reason in comparison.left_out.items()]
    notes += [note for point in comparison.finals for note in _short_runs(comparison, point)]
    if np.isinf(comparison.half).any():
        notes.append("half: pages until half of the targets were found (median over topics); – means never.")
    elif not np.isnan(comparison.half).all():
        notes.append("half: pages until half of the targets were found (median over topics).")
    for row, name in enumerate(comparison.orderings):
        if robust := comparison.robust(row):
            found = ", ".join(
                f"{share:.0%} of the targets {mean:.3f} ({topics})" for share, (mean, topics) in robust.items()
            )
            notes.append(f"{name}: overlap when both crawls from split seeds have found {found}; in brackets: topics.")
    if comparison.shares():
        end = in_words(comparison.final)
        notes.append(f"share: area under the recall curve up to {end}; {RANDOM} is 0%, {OMNISCIENT} is 100%.")
    if OMNISCIENT in comparison.orderings:
        notes.append(
            f"{OMNISCIENT} knows the targets and the whole link graph, and fetches one page at a time: it shows what is "
            "possible by pages, not by time, and is not a contender."
        )
    return notes


def _short_runs(comparison: Comparison, point: Checkpoint) -> Iterator[str]:
    for name, lengths, cut_short in zip(comparison.orderings, comparison.lengths, comparison.cut_short, strict=True):
        if isinstance(point, Elapsed):
            if cut := int((cut_short < point.seconds).sum()):
                yield (
                    f"{name} had spent its budget of pages before {in_words(point)} on {cut} topics; its last value is used, "
                    "but with a larger budget it would have found more."
                )
        elif short := int((lengths < point).sum()):
            yield f"{name} crawled fewer than {in_words(point)} on {short} topics; its last value is used."


def summary_columns(comparison: Comparison) -> list[str]:
    """Return the measures that have values, in the order of ``HEADINGS``; ``half`` is the search length."""
    known = {*comparison.others, *(() if np.isnan(comparison.half).any() else ("half",))}
    return [name for name in HEADINGS if name in known]


def summary_row(comparison: Comparison, row: int) -> list[float | None]:
    """Return the mean over topics of each measure; for ``half`` the median, None if half of the targets were never found."""
    return [_summary(comparison, row, name) for name in summary_columns(comparison)]


def summary_cells(comparison: Comparison, row: int) -> list[str]:
    """Return the values of ``summary_row`` as text."""
    return [
        _text(name, value)
        for name, value in zip(summary_columns(comparison), summary_row(comparison, row), strict=True)
    ]


def summary_headings(comparison: Comparison) -> Sequence[str]:
    return [HEADINGS[name] for name in summary_columns(comparison)]


def _summary(comparison: Comparison, row: int, name: str) -> float | None:
    if name == "half":
        median = float(np.median(comparison.half[row]))
        return median if np.isfinite(median) else None
    return float(comparison.others[name][row].mean())


def _text(name: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if name == "half" else f"{value:.3f}"
