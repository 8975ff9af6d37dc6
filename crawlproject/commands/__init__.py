"""Scrapy sub-commands; the file name is the command."""

from crawlproject.core.process_tuning import take_huge_pages

take_huge_pages()  # at this point the process runs a command of ours, and has imported little
