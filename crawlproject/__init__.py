"""A topical web crawler as a Scrapy project. Start reading at ``docs/life-of-a-url.md``."""

__version__ = "0.1.0"
