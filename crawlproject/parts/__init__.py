"""The optional features of a crawl, a folder each; ``registry.py`` has the table of them."""
