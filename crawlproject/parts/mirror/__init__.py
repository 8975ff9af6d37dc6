"""A crawl, or that of several workers, at a remote address: written while it runs, and read there."""
