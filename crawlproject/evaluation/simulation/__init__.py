"""Crawls without Scrapy and without a network: the same steps as in a live crawl, on a virtual web with a virtual clock.

Rehearsals share work: a page is parsed once per web (``PageCache``) and judged once per topic (``JudgedPages``).
"""
