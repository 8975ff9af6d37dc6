"""The link graph that a crawl has seen so far, and the scores that are computed over it."""
