"""Crawls without Scrapy and without a network: the same steps on a virtual web, on a virtual clock.

What many rehearsals share is computed once: a page is read once a web (``PageCache``) and judged once a topic
(``JudgedPages``).
"""
