"""A crawl by several workers: each has its own hosts, and Redis connects them."""
