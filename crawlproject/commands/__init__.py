"""Scrapy sub-commands; the file name is the command."""
