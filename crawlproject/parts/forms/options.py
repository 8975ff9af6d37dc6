"""Settings of the part: search forms."""

from __future__ import annotations

from crawlproject.options import Count, Options


class FormOptions(Options):
    """Search forms."""

    crawl_forms: Count = 0
    """result pages | fetched from each search form that a relevant page has, also of those that are plainly queries
    though they are [sent by POST](forms.md#finding-forms); 0: no form is ever filled in; see [search
    forms](forms.md)"""
    crawl_form_selection: str = "relevant_new"
    """policy | which query comes next: `relevant_new`, or one of the [published ones](forms.md#choosing-queries)"""
