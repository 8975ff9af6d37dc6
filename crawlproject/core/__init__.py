"""One crawl, and the contract of the parts that it does not know (``part.py``)."""
