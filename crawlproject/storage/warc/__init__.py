"""WARC (ISO 28500): the records of a crawl, written as it goes or made of what it stored."""
