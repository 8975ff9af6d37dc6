"""Settings of the part: near-duplicates, URL rules and URL templates."""

from __future__ import annotations

from crawlproject.options import Names, Options, Positive


class DuplicateOptions(Options):
    """Near-duplicates, URL rules and URL templates."""

    page_duplicates: bool = True
    """| recognise [near-duplicates](adr/0015-duplicates.md); their links come last | 000 section
    2.4"""
    page_duplicates_known: Positive = 1_000_000
    """pages | pages whose duplicates are recognised; about 250 bytes of memory each"""
    trap_templates: bool = True
    """| learn which [URL templates](adr/0023-url-rules-and-templates.md) lead to nothing new; their URLs come last | 004
    section 6"""
    crawl_learn_rules: bool = True
    """| learn [URL rules](adr/0023-url-rules-and-templates.md) from duplicates; URLs that are copies by a rule come
    last; see [`scrapy rules`](commands.md#scrapy-rules) | 004 section 6"""
    crawl_rules: Names = []
    """crawl folders, or files like their `rules.jsonl`, with rules of earlier crawls to start from"""
