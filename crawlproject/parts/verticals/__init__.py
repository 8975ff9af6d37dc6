"""Vertical layouts (paper 004 section 8): forum threads, blogs, news articles, listings; their units, next pages and views."""
