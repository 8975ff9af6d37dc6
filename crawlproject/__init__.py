"""A topical web crawler as a Scrapy project. Start reading at ``docs/architecture.md``."""

__version__ = "0.1.0"
