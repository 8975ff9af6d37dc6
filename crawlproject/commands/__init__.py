"""Scrapy sub-commands; the file name is the command."""

from crawlproject.core.process_tuning import take_huge_pages

take_huge_pages()  # only our own commands import this; most memory is allocated after it
