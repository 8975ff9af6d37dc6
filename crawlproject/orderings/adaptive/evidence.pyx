# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""``LinkFeatures.of`` and ``LinkTable.describe`` in compiled code: row by row, without intermediate arrays.

Sums are made in the order in which numpy makes them.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t

cdef enum:
    LANES = 8  # partial sums into which numpy adds up a row; the widths of all three texts are multiples of it


def fill(
    double[:, :, ::1] found,
    const int64_t[::1] rows,
    table,
    parents,
    tuple columns,
    const double[::1] logarithms,
    const double[::1] keywords,
    const double[::1] feedback,
    const uint8_t[::1] weighty,
    means,
    const double[::1] average,
    const double[::1] counts,
    double full_keywords,
    double full_feedback,
    double shrink,
):
    """Fill in ``found``, (2, rows, kinds).

    ``parents`` have ``best`` and ``total``. ``columns`` is ``link_table.COLUMNS``; ``logarithms`` are those of the rows' totals;
    ``average`` is the mean outcome. ``weighty`` marks the few terms that have a weight.
    """
    cdef Py_ssize_t anchor, around, words, end
    anchor, around, words, end = columns
    cdef const int32_t[:, ::1] terms = table.terms
    cdef const int64_t[:, ::1] groups = table.groups
    cdef const double[::1] best = parents.best, total = parents.total, links = table.links
    cdef const double[:, ::1] hosts = means[0].sums, folders = means[1].sums
    cdef const double[:, ::1] places = means[2].sums, families = means[3].sums
    cdef const double[::1] of_host = means[0].members, of_folder = means[1].members
    cdef const double[::1] of_place = means[2].members, of_family = means[3].members
    cdef Py_ssize_t at, row, outcome, kind
    cdef const int32_t* text
    cdef double host
    cdef double* values
    cdef double[2 * LANES] sums
    for at in range(rows.shape[0]):
        row = rows[at]
        text = &terms[row, 0]
        values = &found[0, at, 0]
        weigh(&keywords[0], &feedback[0], &weighty[0], text + anchor, around - anchor, sums)
        values[0], values[3] = filled(sums, full_keywords), filled(sums + LANES, full_feedback)
        weigh(&keywords[0], &feedback[0], &weighty[0], text + around, words - around, sums)
        values[1] = filled(sums, full_keywords)
        weigh(&keywords[0], &feedback[0], &weighty[0], text + words, end - words, sums)
        values[2], values[4] = filled(sums, full_keywords), filled(sums + LANES, full_feedback)
        values[5], values[6], values[7] = best[row], total[row] / links[row], logarithms[at]
        for outcome in range(2):
            values = &found[outcome, at, 0]
            if outcome:
                for kind in range(8):
                    values[kind] = found[0, at, kind]
            host = mean(hosts[groups[row, 0], outcome], of_host[groups[row, 0]], average[outcome], shrink)
            values[8] = host
            values[9] = mean(folders[groups[row, 1], outcome], of_folder[groups[row, 1]], host, shrink)
            values[10] = mean(places[groups[row, 2], outcome], of_place[groups[row, 2]], host, shrink)
            values[11] = mean(
                families[groups[row, 3], outcome], of_family[groups[row, 3]], host if outcome else best[row], shrink
            )
            values[12] = 1.0
            for kind in range(counts.shape[0]):
                values[kind] *= counts[kind]


cdef inline double mean(double total, double members, double prior, double shrink) noexcept:
    """``Means.means``."""
    return (total + shrink * prior) / (members + shrink)


cdef inline void weigh(
    const double* keywords,
    const double* feedback,
    const uint8_t* weighty,
    const int32_t* terms,
    Py_ssize_t width,
    double* sums,
) noexcept:
    """Add up the keyword weights of a text, and after them its feedback weights, each in ``LANES`` sums."""
    cdef Py_ssize_t place, lane
    cdef int32_t term
    for lane in range(2 * LANES):
        sums[lane] = 0.0
    for place in range(width):
        term = terms[place]
        if weighty[term]:
            sums[place % LANES] += keywords[term]
            sums[LANES + place % LANES] += feedback[term]


cdef inline double filled(const double* sums, double full) noexcept:
    """``link_features._filled``."""
    cdef double total = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
    return min(1.0, total / full)


def describe(
    int32_t[:, ::1] terms, tuple columns, const int64_t[::1] rows, const int32_t[::1] text, list anchors, list contexts
):
    """Fill in the terms of the anchor and the surroundings of ``rows``, whose spans in the text are given."""
    cdef Py_ssize_t anchor, around, words, end, at, row, start, stop, first
    anchor, around, words, end = columns
    cdef Py_ssize_t reach = (words - around) // 2
    for at in range(rows.shape[0]):
        row = rows[at]
        start, stop = anchors[at]
        first_terms(&terms[row, anchor], around - anchor, text, start, stop)
        first, stop = contexts[at]
        first_terms(&terms[row, around], words - around, text, max(first, start - reach), stop)


cdef inline void first_terms(
    int32_t* into, Py_ssize_t width, const int32_t[::1] text, Py_ssize_t start, Py_ssize_t stop
) noexcept:
    """``link_table._first_terms``."""
    cdef Py_ssize_t place
    stop = min(stop, text.shape[0])
    for place in range(width):
        into[place] = text[start + place] if start + place < stop else 0
