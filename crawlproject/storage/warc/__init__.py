"""WARC (ISO 28500): the records of a crawl, written during the crawl or reconstructed from its files."""
