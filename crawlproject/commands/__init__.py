"""Scrapy sub-commands; the file name is the command."""

from crawlproject.core.process_tuning import take_huge_pages

take_huge_pages()  # the process is ours, and most of what it needs is not imported yet
