"""The link graph of a crawl so far, and scores computed over it."""
