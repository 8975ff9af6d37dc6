"""Measures of crawl quality, importance of pages, and significance tests."""
