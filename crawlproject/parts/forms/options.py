"""Settings of the part: search forms."""

from __future__ import annotations

from crawlproject.options import Count, Options


class FormOptions(Options):
    """Search forms."""

    crawl_forms: Count = 0
    """result pages | maximum pages fetched from each search form on a relevant page, including forms that are plainly
    queries though they are [sent by POST](forms.md#finding-forms); 0: no form is filled in; see [search
    forms](forms.md)"""
    crawl_form_selection: str = "relevant_new"
    """policy | choice of the next query: `relevant_new`, or one of the [published
    policies](forms.md#choosing-queries)"""
