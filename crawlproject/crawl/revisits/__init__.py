"""A crawl that goes on: pages are visited again when that is worth a fetch (paper 004 section 5)."""
