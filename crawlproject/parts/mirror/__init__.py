"""A copy of a crawl, or of its workers, at a remote address: written while the crawl runs, and read there."""
