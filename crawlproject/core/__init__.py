"""The core of a crawl, and the contract of its parts (``part.py``), none of which it knows by name."""
