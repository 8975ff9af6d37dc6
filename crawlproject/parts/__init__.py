"""The optional features of a crawl, one folder each; ``registry.py`` has the table of them."""
